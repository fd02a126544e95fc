//go:build linux

package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// If a name does not exist, the job is wrong, or this machine has lost the file system with the name. A lost file
// system leaves an empty directory at its mount point, or no directory at all. So the nearest existing directory above
// the name shows the difference.

// missing returns the error of a directory or a file. It says whether the name is probably missing everywhere.
func missing(err error, path string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &NameError{Err: err, NotFound: !lostAbove(path)}
}

// lostAbove reports whether the file system of a missing file may be lost.
func lostAbove(path string) bool {
	above := nearest(path)
	return above == "/" || empty(above)
}

// hollowAbove is [lostAbove] for a directory of PATH. Users name directories in PATH that only their other machines
// have, so a missing one, such as /snap/bin, shows nothing. An empty directory above a missing one still shows a lost
// file system.
func hollowAbove(dir string) bool {
	if _, err := os.Stat(dir); err == nil {
		return false
	}
	return empty(nearest(dir))
}

// nearest returns the nearest directory above a path that exists.
func nearest(path string) string {
	for {
		path = filepath.Dir(path)
		if _, err := os.Stat(path); path == "/" || err == nil || !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
}

// empty reports whether a directory can be read and has no entries.
func empty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	return len(names) == 0 && err != nil
}
