package socket_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead/internal/socket"
)

const nobody = 65534

// open returns a directory that everybody may enter.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl-socket-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func listen(t *testing.T, o socket.Options) (*socket.Listener, error) {
	t.Helper()
	if o.Mode == 0 {
		o.Mode = 0o666
	}
	o.GID = -1
	l, err := socket.Listen(o)
	if err == nil {
		t.Cleanup(func() { l.Close() })
	}
	return l, err
}

// TestBothEndsAreKnown checks that server and client see each other's user, and that the file is removed with
// the server.
func TestBothEndsAreKnown(t *testing.T) {
	path := filepath.Join(open(t), "s")
	l, err := listen(t, socket.Options{Path: path, Mode: 0o640})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o640 || l.Addr().String() != path {
		t.Errorf("%v, %v; the address is %v", info.Mode(), err, l.Addr())
	}
	c, err := socket.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, end := range []net.Conn{c, other} {
		if uid, err := socket.PeerUID(end.(syscall.Conn)); err != nil || uid != os.Getuid() {
			t.Errorf("user %d, %v", uid, err)
		}
	}
	if _, err := listen(t, socket.Options{Path: path}); err == nil ||
		!strings.Contains(err.Error(), "another server listens") {
		t.Errorf("a second server: %v", err)
	}
	l.Close()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
}

// TestListen checks that a server replaces the socket of a dead server and keeps any other file, and that a
// server that ends removes only its own file.
func TestListen(t *testing.T) {
	dir := open(t)
	path := filepath.Join(dir, "s")
	dead, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	l, err := listen(t, socket.Options{Path: path})
	if err != nil {
		t.Fatalf("what a dead server left: %v", err)
	}
	os.Remove(path)
	next, err := listen(t, socket.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if c, err := socket.Dial(t.Context(), path); err != nil {
		t.Errorf("the first server removed the socket of the second: %v", err)
	} else {
		c.Close()
	}
	next.Close()
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t, socket.Options{Path: path}); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("a file in the place: %v", err)
	}
	if _, err := listen(t, socket.Options{Path: filepath.Join(dir, strings.Repeat("x", 120))}); err == nil ||
		!strings.Contains(err.Error(), "longer") {
		t.Errorf("a long path: %v", err)
	}
}

// TestBusyServerKeepsItsSocket checks that a server whose queue of connections is full counts as running.
func TestBusyServerKeepsItsSocket(t *testing.T) {
	path := filepath.Join(open(t), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := listen(t, socket.Options{Path: path}); err == nil {
		t.Error("its socket was taken over")
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("its socket was removed: %v", err)
	}
	later := make(chan error, 1) // a client waits until there is room
	go func() {
		c, err := socket.Dial(t.Context(), path)
		if err == nil {
			c.Close()
		}
		later <- err
	}()
	for range 2 {
		accepted, _, err := syscall.Accept(fd)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(accepted)
	}
	if err := <-later; err != nil {
		t.Errorf("a client that has to wait: %v", err)
	}
}

// TestHostileDirectories checks that no server listens in a directory where another user could put a socket.
func TestHostileDirectories(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to give directories away")
	}
	dir := open(t)
	mine := filepath.Join(dir, "mine")
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		make    func(path string) error
		private bool
		want    string
	}{
		{
			"another's", func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chown(p, nobody, nobody)) }, true,
			"uid 65534",
		},
		{
			"another's, by name", func(p string) error { return errors.Join(os.Mkdir(p, 0o755), os.Chown(p, nobody, nobody)) },
			false, "uid 65534",
		},
		{"open", func(p string) error { return errors.Join(os.Mkdir(p, 0o755), os.Chmod(p, 0o755)) }, true, "chmod 700"},
		{
			"for everybody", func(p string) error { return errors.Join(os.Mkdir(p, 0o755), os.Chmod(p, 0o777)) }, false,
			"everybody",
		},
		{"link", func(p string) error { return os.Symlink(mine, p) }, true, "not a directory of yours"},
		{"link to nothing", func(p string) error { return os.Symlink(dir+"/nothing", p) }, true, "file exists"},
		{"file", func(p string) error { return os.WriteFile(p, nil, 0o600) }, true, "not a directory"},
		{"missing", func(string) error { return nil }, true, ""},
		{"sticky", func(p string) error {
			return errors.Join(os.Mkdir(p, 0o755), os.Chmod(p, 0o777|fs.ModeSticky))
		}, false, ""},
		{"of a group", func(p string) error { return errors.Join(os.Mkdir(p, 0o755), os.Chmod(p, 0o775)) }, false, ""},
		{"of another group", func(p string) error {
			return errors.Join(os.Mkdir(p, 0o755), os.Chown(p, 0, nobody), os.Chmod(p, 0o775))
		}, false, "chmod g-w it, or name a socket"},
	} {
		path := filepath.Join(dir, c.name)
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		l, err := listen(t, socket.Options{Path: filepath.Join(path, "s"), Private: c.private})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil && c.private {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s has the mode %v, %v", c.name, info.Mode(), err)
			}
		}
		if l != nil {
			l.Close()
		}
	}
	if entries, _ := os.ReadDir(mine); len(entries) > 0 {
		t.Errorf("a link was followed: %v", entries)
	}
}

// TestStranger listens; TestDialRefusesStrangers runs it as another user.
func TestStranger(t *testing.T) {
	path := os.Getenv("FAIRLEAD_STRANGER")
	if path == "" {
		t.Skip("TestDialRefusesStrangers runs it")
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(path, 0o666)
	os.Stdout.WriteString("ready\n")
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		got, _ := io.ReadAll(c)
		os.Stdout.WriteString("got " + string(got) + ".\n")
	}
}

// TestDialRefusesStrangers checks that a client closes the connection to a user whom it does not trust before
// it sends anything, and that the error names the user.
func TestDialRefusesStrangers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to listen as another user")
	}
	dir := open(t)
	program := filepath.Join(dir, "stranger")
	self, err := os.ReadFile(must(os.Executable()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(program, self, 0o755), os.Chown(dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	x := exec.Command(program, "-test.run=^TestStranger$")
	x.Dir, x.Env = dir, []string{"FAIRLEAD_STRANGER=" + path}
	x.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out := must(x.StdoutPipe())
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	defer x.Wait()
	defer x.Process.Kill()
	if got := line(out); got != "ready" {
		t.Fatalf("the stranger says %q", got)
	}
	_, err = socket.Dial(t.Context(), path)
	var stranger *socket.StrangerError
	if !errors.As(err, &stranger) || stranger.UID != nobody || !strings.Contains(err.Error(), "nobody (uid 65534)") {
		t.Errorf("the error is %v", err)
	}
	if got := line(out); got != "got ." {
		t.Errorf("the stranger says %q", got)
	}
	c, err := socket.Dial(t.Context(), path, nobody)
	if err != nil {
		t.Fatalf("a trusted user: %v", err)
	}
	c.Close()
}

func line(r io.Reader) string {
	var text []byte
	for b := make([]byte, 1); ; {
		if _, err := r.Read(b); err != nil || b[0] == '\n' {
			return string(text)
		}
		text = append(text, b[0])
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestUsers checks that users are found by name and by number.
func TestUsers(t *testing.T) {
	for name, want := range map[string]int{"root": 0, "0": 0, "4242": 4242} {
		if uid, err := socket.UserID(name); err != nil || uid != want {
			t.Errorf("%s is %d, %v", name, uid, err)
		}
	}
	for _, name := range []string{"no such user", "-1", ""} {
		if uid, err := socket.UserID(name); err == nil {
			t.Errorf("%q is %d", name, uid)
		}
	}
	if socket.UserName(0) != "root" || socket.UserName(4242) != "4242" {
		t.Errorf("%s, %s", socket.UserName(0), socket.UserName(4242))
	}
}
