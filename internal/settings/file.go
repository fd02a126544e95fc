package settings

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fairlead/fairlead/config"
)

// place is the path of the file; "" means no file.
type place string

// from returns the origin of a configuration for the record.
func (p place) from() string { return cmp.Or(string(p), "defaults") }

// onDisk returns the present text of the file, as the reader reads it, but without its passwords; "" if there
// is none.
func (p place) onDisk() string { return config.Hide(p.whole()) }

// whole returns the text with its passwords.
func (p place) whole() string {
	if p == "" {
		return ""
	}
	text, err := config.ReadText(string(p))
	if err != nil {
		return ""
	}
	return text
}

// writeFile replaces a file atomically: a reader sees the old text or the new one, even after a failure of
// the machine. If the name is a link, it replaces the file behind the link. It keeps mode and owner, as far
// as the server may change owners.
func writeFile(path, text string) (err error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(real), "."+filepath.Base(real)+".")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := f.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if err := keepOwner(f, info); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), real); err != nil {
		return err
	}
	return syncDir(filepath.Dir(real))
}

// keepOwner gives a new file the owner of the old one. A server that may not do that must not replace another
// user's file, because that user could then no longer write it.
func keepOwner(f *os.File, old fs.FileInfo) error {
	stat, ok := old.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() && int(stat.Gid) == os.Getegid() {
		return nil
	}
	if err := f.Chown(int(stat.Uid), int(stat.Gid)); err != nil && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user: %w", old.Name(), err)
	}
	return nil
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
