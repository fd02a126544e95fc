package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// ballastSize is enough room for thousands of jobs to end.
const ballastSize = 4 << 20

// ballast is a file that reserves some disk space, to be released when the disk is full. Without that space, SQLite
// could not even record the end of a job, or delete anything. While the space is released nothing may be added,
// because that would use it up.
type ballast struct {
	path    string
	missing bool      // it was released, or there was no space for it
	tried   time.Time // when it was last found missing
}

// give releases the space and reports whether there was any.
func (b *ballast) give() bool {
	b.missing = true
	return os.Remove(b.path) == nil
}

// whole reports whether the space is reserved. If it is not, whole checks once a second whether there is enough again.
func (b *ballast) whole(now time.Time) bool {
	if b.missing && now.Sub(b.tried) >= time.Second {
		b.tried = now
		b.refill()
	}
	return !b.missing
}

// check refuses anything but a regular file at the path of the ballast.
func (b *ballast) check() error {
	info, err := os.Lstat(b.path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file, but the server reserves disk space there: find out who put it there, and remove it", b.path)
	}
	return nil
}

// there reports whether the complete ballast is on the disk.
func (b *ballast) there() bool {
	info, err := os.Lstat(b.path)
	return err == nil && info.Mode().IsRegular() && info.Size() == ballastSize
}

// anew creates the file. In a directory that others can write to, they may have put a link to another file at that
// place; anew does not touch the other file.
func (b *ballast) anew() (*os.File, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// refill reserves the space again, if the disk has enough by now.
func (b *ballast) refill() {
	b.missing = false
	if b.there() {
		return
	}
	// Do not write into a file of another size: it may be a hard link to another file.
	f, err := b.anew()
	if err != nil {
		b.missing = true
		return
	}
	block := make([]byte, 1<<20)
	for range ballastSize / len(block) {
		if _, err = f.Write(block); err != nil {
			break
		}
	}
	if cerr := f.Close(); err != nil || cerr != nil {
		b.give()
	}
}
