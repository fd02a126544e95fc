package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxPath is the longest path that fits into the address of a socket.
const maxPath = 107

// Options says how a server listens.
type Options struct {
	Path string
	Mode fs.FileMode // of the socket
	GID  int         // group of the socket; -1 keeps the group of the process
	// Private is set if everybody may make a directory at this place. Then the directory must belong to the
	// server, and be closed to other users.
	Private bool
}

// Listener is a server's socket. Closing it removes the file.
type Listener struct {
	*net.UnixListener
	path, name string
	dir        *os.File
	file       unix.Stat_t
}

// Addr returns the path of the socket.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close stops listening, and removes the socket unless another server has replaced it.
func (l *Listener) Close() error {
	err := l.UnixListener.Close()
	var now unix.Stat_t
	if unix.Fstatat(int(l.dir.Fd()), l.name, &now, unix.AT_SYMLINK_NOFOLLOW) == nil && now.Ino == l.file.Ino &&
		now.Dev == l.file.Dev {
		unix.Unlinkat(int(l.dir.Fd()), l.name, 0)
	}
	return errors.Join(err, l.dir.Close())
}

// Listen makes a socket. It replaces a socket that a stopped server left, and refuses one that a server uses.
// It makes the directory if it is missing, opens it without following a link in its place, and checks it.
// From then on it uses the directory only by its descriptor, so that nobody can replace it in between.
func Listen(o Options) (*Listener, error) {
	if len(o.Path) > maxPath {
		return nil, fmt.Errorf("the path is longer than %d bytes: %s", maxPath, o.Path)
	}
	dir, err := openDir(filepath.Dir(o.Path), o.Private)
	if err != nil {
		return nil, err
	}
	l := &Listener{path: o.Path, name: filepath.Base(o.Path), dir: dir}
	if err := l.listen(o); err != nil {
		dir.Close()
		return nil, err
	}
	return l, nil
}

func (l *Listener) listen(o Options) error {
	at := fmt.Sprintf("/proc/self/fd/%d/%s", l.dir.Fd(), l.name) // the path through the descriptor
	if err := l.clear(at); err != nil {
		return err
	}
	listener, err := net.Listen("unix", at)
	if err != nil {
		return err
	}
	l.UnixListener = listener.(*net.UnixListener)
	l.SetUnlinkOnClose(false)
	if err := l.admit(o); err != nil {
		l.UnixListener.Close()
		unix.Unlinkat(int(l.dir.Fd()), l.name, 0)
		return err
	}
	return nil
}

// admit sets who may connect, on exactly the file that was made.
func (l *Listener) admit(o Options) error {
	fd, err := unix.Openat(int(l.dir.Fd()), l.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: l.path, Err: err}
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &l.file); err != nil {
		return &fs.PathError{Op: "stat", Path: l.path, Err: err}
	}
	if l.file.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return fmt.Errorf("%s was exchanged for something else while it was made", l.path)
	}
	if o.GID >= 0 {
		if err := unix.Fchownat(fd, "", -1, o.GID, unix.AT_EMPTY_PATH); err != nil {
			return &fs.PathError{Op: "chgrp", Path: l.path, Err: err}
		}
	}
	return os.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), o.Mode)
}

// clear removes a socket that a stopped server left, and nothing else.
func (l *Listener) clear(at string) error {
	var st unix.Stat_t
	switch err := unix.Fstatat(int(l.dir.Fd()), l.name, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return &fs.PathError{Op: "stat", Path: l.path, Err: err}
	case st.Mode&unix.S_IFMT != unix.S_IFSOCK:
		return fmt.Errorf("%s exists and is not a socket; remove it, or name another socket with --socket", l.path)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "unix", at)
	if err == nil {
		c.Close()
		return fmt.Errorf("another server listens on %s; stop it, or name another socket with --socket", l.path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf(
			"%s: whether a server uses this socket cannot be found out (%w); remove it, or name another with --socket", l.path,
			err)
	}
	return unix.Unlinkat(int(l.dir.Fd()), l.name, 0)
}

// openDir opens the directory of a socket, and checks whether other users could put a socket of their own
// into that directory.
func openDir(path string, private bool) (*os.File, error) {
	mode := fs.FileMode(0o755)
	if private {
		mode = 0o700
	}
	if err := os.MkdirAll(path, mode); err != nil {
		return nil, err
	}
	flags := unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	if private {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Open(path, flags, 0)
	if private && (errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)) {
		return nil, fmt.Errorf("%s is not a directory of yours: remove it, set XDG_RUNTIME_DIR, or name a socket elsewhere "+
			"with --socket", path)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	dir := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		dir.Close()
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if wrong := wrongDir(&st, private); wrong != "" {
		dir.Close()
		return nil, fmt.Errorf("the directory %s %s name a socket in a directory of your own with --socket",
			path, wrong)
	}
	return dir, nil
}

// wrongDir says why a directory may not hold a socket; "" if it may.
func wrongDir(st *unix.Stat_t, private bool) string {
	sticky := st.Mode&unix.S_ISVTX != 0
	switch own := int(st.Uid) == os.Geteuid(); {
	case private && !own, !own && st.Uid != 0:
		return fmt.Sprintf("belongs to %s (uid %d), who could put another socket into it:", UserName(int(st.Uid)), st.Uid)
	case private && st.Mode&0o077 != 0:
		return fmt.Sprintf("is open to others (mode %04o): chmod 700 it, or", st.Mode&0o7777)
	case !private && st.Mode&0o002 != 0 && !sticky:
		return fmt.Sprintf("lets everybody put another socket into it (mode %04o): chmod o-w it, or", st.Mode&0o7777)
	case !private && st.Mode&0o020 != 0 && !sticky && int(st.Gid) != os.Getegid(): // many users have their own group
		return fmt.Sprintf("lets its group put another socket into it (mode %04o): chmod g-w it, or", st.Mode&0o7777)
	}
	return ""
}

// Own reports whether a path is a directory, not a link, that belongs to this user. The check is needed
// because another user can make a directory with this user's name among the temporary files.
func Own(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && int(st.Uid) == os.Geteuid()
}
