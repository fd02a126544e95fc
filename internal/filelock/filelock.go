// Package filelock keeps a file or directory to one process at a time.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Lock is held until it is released, or the process ends, however it ends.
type Lock struct{ f *os.File }

// HeldError says that another process has the lock.
type HeldError struct{ Process string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("it is in use by another fairlead (process %s)", e.Process)
}

// Take takes the lock that a file stands for, which is made if need be. If another process
// has it the error is a [*HeldError].
func Take(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		owner := make([]byte, 20)
		n, _ := f.Read(owner)
		f.Close()
		return nil, &HeldError{strings.TrimSpace(string(owner[:n]))}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &Lock{f}, nil
}

// Release lets go of the lock.
func (l *Lock) Release() error { return l.f.Close() }
