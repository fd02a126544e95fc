package sqlite

import "os"

// ballastSize is enough for thousands of jobs to end.
const ballastSize = 4 << 20

// ballast is a file that keeps some room on the disk, to be given back when the
// disk is full: SQLite cannot even record the end of a job then, or delete anything.
type ballast struct{ path string }

// give gives the room back and reports whether there was any.
func (b *ballast) give() bool { return b.path != "" && os.Remove(b.path) == nil }

// refill takes the room again, if the disk has enough by now. Without it everything
// works as long as the disk is not full.
func (b *ballast) refill() {
	if info, err := os.Stat(b.path); err == nil && info.Size() == ballastSize {
		return
	}
	f, err := os.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	block := make([]byte, 1<<20)
	for range ballastSize / len(block) {
		if _, err = f.Write(block); err != nil {
			break
		}
	}
	if cerr := f.Close(); err != nil || cerr != nil {
		os.Remove(b.path)
	}
}
