// Package filelock keeps a file or directory to one process at a time.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Lock is a lock that lasts until Release, or until the process ends in whatever way.
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

// Take locks a file, and creates it if necessary. If another process has the lock, the error is a
// [*HeldError].
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

// Hold locks a file without writing to it. Other processes find the lock by any name of the file. It creates
// a missing file.
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

// Stays reports whether the path of the lock still leads to the locked file.
func (l *Lock) Stays() bool {
	there, err := os.Stat(l.path)
	if err != nil {
		return false
	}
	ours, err := l.f.Stat()
	return err == nil && os.SameFile(there, ours)
}

// open opens the file of a lock, which may hold the number of a process. In a directory in which others may
// write, somebody may have put something else in its place. So open neither follows links nor accepts another
// kind of file.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, strange(path, "is a symbolic link")
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	switch stat, known := info.Sys().(*syscall.Stat_t); {
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
	return fmt.Errorf("%s %s, but it must be a regular file with only one name: find out who put it there, "+
		"and remove it", path, what)
}

// Release releases the lock. Closing the file is not enough: a child process that is just starting also has
// it open, until it runs its program.
func (l *Lock) Release() error {
	return errors.Join(syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN), l.f.Close())
}
