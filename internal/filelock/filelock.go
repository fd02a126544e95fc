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
type Lock struct {
	f    *os.File
	path string
}

// HeldError says that another process has the lock.
type HeldError struct{ Process string }

func (e *HeldError) Error() string {
	if e.Process == "" {
		return "it is in use by another fairlead, which knows it by another name or has lost the file of its lock"
	}
	return fmt.Sprintf("it is in use by another fairlead (process %s)", e.Process)
}

// Take takes the lock that a file stands for, which is made if need be. If another process
// has it the error is a [*HeldError].
func Take(path string) (*Lock, error) {
	f, err := open(path)
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
	return &Lock{f, path}, nil
}

// Hold locks a file that is there, and leaves it as it is. So it is found by whatever name somebody else has it open.
func Hold(path string) (*Lock, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &HeldError{}
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return &Lock{f, path}, nil
}

// Stays reports whether the path of the lock leads to the file that is locked still, and not to none or another.
func (l *Lock) Stays() bool {
	there, err := os.Stat(l.path)
	if err != nil {
		return false
	}
	ours, err := l.f.Stat()
	return err == nil && os.SameFile(there, ours)
}

// open opens the file of a lock, in which the number of a process is to stand. What somebody else may
// have put in its place, where others may write too, is not followed and not written into.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, strange(path, "is a symbolic link")
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch stat, known := info.Sys().(*syscall.Stat_t); {
	case err != nil:
	case !info.Mode().IsRegular():
		err = strange(path, "is not a file")
	case known && stat.Nlink > 1:
		err = strange(path, "has another name, too (a hard link)")
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

func strange(path, what string) error {
	return fmt.Errorf("%s %s, and a file of its own belongs there: look who put it there, and remove it", path, what)
}

// Release lets go of the lock. To close the file is not enough: a process that is being started just now
// has it, too, until it runs its program.
func (l *Lock) Release() error {
	return errors.Join(syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN), l.f.Close())
}
