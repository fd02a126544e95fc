package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// ballastSize is enough for thousands of jobs to end.
const ballastSize = 4 << 20

// ballast is a file that keeps some room on the disk, to be given back when the
// disk is full: SQLite cannot even record the end of a job then, or delete anything.
// While it is given back nothing may be added, or that would use up the room.
type ballast struct {
	path    string
	missing bool      // it was given back, or there was no room for it
	tried   time.Time // when it was last missed
}

// give gives the room back and reports whether there was any.
func (b *ballast) give() bool {
	b.missing = true
	return os.Remove(b.path) == nil
}

// whole reports whether the room is kept. If it is not, it looks once a second whether
// there is enough again.
func (b *ballast) whole(now time.Time) bool {
	if b.missing && now.Sub(b.tried) >= time.Second {
		b.tried = now
		b.refill()
	}
	return !b.missing
}

// check refuses anything but a file in the place of the ballast.
func (b *ballast) check() error {
	info, err := os.Lstat(b.path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file, and room for a full disk is kept there: look who put it there, and remove it", b.path)
	}
	return nil
}

// there reports whether the ballast is on the disk.
func (b *ballast) there() bool {
	info, err := os.Lstat(b.path)
	return err == nil && info.Mode().IsRegular() && info.Size() == ballastSize
}

// anew makes the file. Where others may write, too, they may have put something there that stands for
// another file; that is left alone.
func (b *ballast) anew() (*os.File, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// refill takes the room again, if the disk has enough by now.
func (b *ballast) refill() {
	b.missing = false
	if b.there() {
		return
	}
	// What is of another size is not written into: it may have another name, too.
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
