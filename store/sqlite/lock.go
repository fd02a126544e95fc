package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// fileLock sees to it that one process at a time has a store open. The kernel lets
// go of it when the process ends, however it ends.
type fileLock struct{ f *os.File }

func lockFile(path string) (*fileLock, error) {
	f, err := os.OpenFile(path+"-lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		owner := make([]byte, 20)
		n, _ := f.Read(owner)
		f.Close()
		return nil, fmt.Errorf("it is in use by another fairlead (process %s); stop that one first, or name another file", strings.TrimSpace(string(owner[:n])))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &fileLock{f}, nil
}

func (l *fileLock) release() error { return l.f.Close() }
