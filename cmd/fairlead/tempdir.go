package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/internal/filelock"
)

// tempLock is the file in a temporary directory whose lock its process holds for as long as it lives.
const tempLock = "lock"

// tempBeginning is for how long a directory without a locked lock may be one that a process makes just now.
const tempBeginning = time.Minute

// tempDir makes a temporary directory with a prefix, which goes away with the cleanup. Others may pass through it: they
// have to reach the scripts of their jobs, which lie below. A process that is killed leaves its directory; so those of
// the same user and prefix whose process is gone are removed first.
func tempDir(under, prefix string) (dir string, cleanup func(), err error) {
	if under == "" {
		under = os.TempDir()
	}
	removeLeft(under, prefix)
	if dir, err = os.MkdirTemp(under, prefix); err != nil {
		return "", nil, err
	}
	lock, err := filelock.Take(filepath.Join(dir, tempLock))
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() { os.RemoveAll(dir); lock.Release() }, nil
}

// removeLeft removes the directories of processes that are gone. What cannot be removed stays: nobody is to fail for
// it.
func removeLeft(under, prefix string) {
	found, _ := filepath.Glob(filepath.Join(under, prefix+"*"))
	for _, dir := range found {
		if ours(dir, fs.FileMode.IsDir) && ours(filepath.Join(dir, tempLock), fs.FileMode.IsRegular) {
			removeUnheld(dir)
		}
	}
}

// ours reports whether a path leads, without a link, to something of a kind that belongs to us and has been there for a
// while.
func ours(path string, is func(fs.FileMode) bool) bool {
	info, err := os.Lstat(path)
	if err != nil || !is(info.Mode()) {
		return false
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Geteuid() && time.Since(info.ModTime()) > tempBeginning
}

// removeUnheld removes a directory unless a process holds its lock.
func removeUnheld(dir string) {
	lock, err := filelock.Take(filepath.Join(dir, tempLock))
	if err != nil {
		return
	}
	defer lock.Release()
	os.RemoveAll(dir)
}
