// Package tempdir creates temporary directories, and removes those of killed processes.
package tempdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/internal/filelock"
)

// lockName is the file in a temporary directory that its process keeps locked while it lives.
const lockName = "lock"

// beginning is an age: if a directory is younger and its lock is free, a process may still be creating it.
const beginning = time.Minute

// New creates a temporary directory with a prefix; the function "cleanup" removes the directory. Other users may pass
// through it, because they have to reach the scripts of their jobs below it. A killed process leaves its directory
// behind, so New first removes the directories of the same user and prefix whose process is gone.
func New(under, prefix string) (dir string, cleanup func(), err error) {
	if under == "" {
		under = os.TempDir()
	}
	removeLeft(under, prefix)
	if dir, err = os.MkdirTemp(under, prefix); err != nil {
		return "", nil, err
	}
	lock, err := filelock.Take(filepath.Join(dir, lockName))
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() { os.RemoveAll(dir); lock.Release() }, nil
}

// removeLeft removes the directories of processes that are gone. It ignores errors, because no caller should
// fail because of them.
func removeLeft(under, prefix string) {
	found, _ := filepath.Glob(filepath.Join(under, prefix+"*"))
	for _, dir := range found {
		if ours(dir, fs.FileMode.IsDir) && ours(filepath.Join(dir, lockName), fs.FileMode.IsRegular) {
			removeUnheld(dir)
		}
	}
}

// ours reports whether a path has a given kind, without following links, belongs to our user, and is older
// than an instant.
func ours(path string, is func(fs.FileMode) bool) bool {
	info, err := os.Lstat(path)
	if err != nil || !is(info.Mode()) {
		return false
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Geteuid() && time.Since(info.ModTime()) > beginning
}

// removeUnheld removes a directory unless a process holds its lock.
func removeUnheld(dir string) {
	lock, err := filelock.Take(filepath.Join(dir, lockName))
	if err != nil {
		return
	}
	defer lock.Release()
	os.RemoveAll(dir)
}
