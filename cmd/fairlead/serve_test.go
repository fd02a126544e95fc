package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
)

// TestServeAsUser checks that the server of an ordinary user has its socket where the user may write.
func TestServeAsUser(t *testing.T) {
	if os.Getuid() != 0 {
		daemons.Skip(t, "only root can become another user")
	}
	const uid = 65534
	dir, err := os.MkdirTemp("", "serve") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "fairlead") // under this name the test binary is the program
	if err := errors.Join(os.WriteFile(program, data, 0o755), os.Chown(dir, uid, uid)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, env, want string
		args            []string
	}{
		{"runtime directory", "XDG_RUNTIME_DIR=" + dir, "socket    " + dir + "/fairlead.sock", nil},
		{"none at hand", "TMPDIR=" + dir, "socket    " + dir + "/fairlead-65534/fairlead.sock", nil},
		{"runtime directory of somebody else", "XDG_RUNTIME_DIR=/run", "fairlead-65534/fairlead.sock", nil},
		{"address", "TMPDIR=" + dir, "dashboard http://127.0.0.1:", nil},
	} {
		listen := "127.0.0.1:0"
		cmd := exec.Command(program, append([]string{"serve", "--dev", "--listen", listen}, c.args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, c.env}
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		var out background
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for deadline := time.Now().Add(patience); !strings.Contains(out.String(), "  try ") && time.Now().Before(deadline); {
			select {
			case err := <-ended:
				t.Fatalf("%s: the server ended: %v\n%s", c.name, err, out.String())
			case <-time.After(5 * time.Millisecond):
			}
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: it does not say %q:\n%s", c.name, c.want, out.String())
		}
		cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	}
}

// TestServeWithoutSocket checks that a server refuses to run without a socket, because commands and agents must be able
// to reach it.
func TestServeWithoutSocket(t *testing.T) {
	s := &serve{app: &app{errs: &background{}}, socket: "none", listen: "127.0.0.1:0"}
	if _, _, err := s.options(config.Default()); err == nil || !strings.Contains(err.Error(), "needs its socket") {
		t.Errorf("no socket: %v", err)
	}
}

// TestServeListensWhereItIsAsked checks that only a development server has an address by default.
func TestServeListensWhereItIsAsked(t *testing.T) {
	for _, c := range []struct {
		dev          bool
		file, listen string
		want         []string
	}{
		{false, "", "", nil},
		{true, "", "", []string{defaultAddress}},
		{true, "", "none", nil},
		{false, "", "127.0.0.1:0", []string{"127.0.0.1:0"}},
		{false, "127.0.0.1:99", "", []string{"127.0.0.1:99"}},
		{true, "127.0.0.1:99", "", []string{"127.0.0.1:99"}},
		{true, "127.0.0.1:99", "none", nil},
	} {
		cfg := config.Default()
		if c.file != "" {
			cfg.Server.Listen = []string{c.file}
		}
		s := &serve{app: &app{errs: &background{}}, dev: c.dev, database: "x.db", listen: c.listen}
		o, _, err := s.options(cfg)
		if err != nil || !slices.Equal(o.listen, c.want) || o.socket.Mode != 0o666 || o.socket.GID != -1 {
			t.Errorf("%+v: it listens on %v, and has the socket %+v, %v", c, o.listen, o.socket, err)
		}
	}
}

// TestAgentDir checks that development servers of different files have separate agent directories, even in
// one directory.
func TestAgentDir(t *testing.T) {
	for _, c := range []struct{ database, node, want string }{
		{"fairlead.db", hostname(), "fairlead-agent"},
		{"/lab/jobs.db", hostname(), "/lab/jobs-agent"},
		{"/lab/jobs", "n1", "/lab/jobs-agent"},
		{"postgres://lab/jobs", hostname(), "fairlead-agent"},
		{"postgres://lab/jobs", "n1", "fairlead-agent-n1"},
	} {
		if got := agentDir(c.database, c.node); got != c.want {
			t.Errorf("the agent of %s with the node %s has %q, want %q", c.database, c.node, got, c.want)
		}
	}
}

// TestCodeIsForTerminals checks that the sign-in address is printed only on a terminal. Other users may be able to read
// a file, a journal or a build log, and whoever opens the address first acts as the server's user.
func TestCodeIsForTerminals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ want, not string }{
		"terminal": {"/login?code=", "sign in, run"},
		"file":     {"; to sign in, run: FAIRLEAD_SERVER=SOCKET fairlead dashboard\n", "code="},
	} {
		dir := t.TempDir()
		cmd := exec.Command("fairlead", "serve", "--dev", "--listen", "127.0.0.1:0", "--socket", dir+"/s", "--db",
			dir+"/d.db")
		cmd.Dir = dir
		b := inBackground(t, cmd, name == "terminal")
		await.Until(t, "the server says where it is", func() (any, bool) {
			return b.String(), strings.Contains(b.String(), "  try ")
		})
		b.stop()
		said := strings.ReplaceAll(b.String(), dir+"/s", "SOCKET")
		if !strings.Contains(said, c.want) || strings.Contains(said, c.not) {
			t.Errorf("%s: it says\n%s", name, said)
		}
	}
}

// TestServeWithoutItsPort lets a user take the port while the server is away. The socket must still work, and the user
// must get no sign-in code.
func TestServeWithoutItsPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir, address := t.TempDir(), taken.Addr().String()
	cmd := exec.Command("fairlead", "serve", "--listen", address, "--socket", dir+"/s", "--db", dir+"/d.db")
	cmd.Dir = dir
	b := inBackground(t, cmd, false)
	defer b.stop()
	says := func(want string, args ...string) {
		t.Helper()
		await.Until(t, "fairlead "+args[0]+" says "+want, func() (any, bool) {
			cmd := exec.Command("fairlead", args...)
			cmd.Env = append(os.Environ(), "FAIRLEAD_SERVER="+dir+"/s")
			out, _ := cmd.CombinedOutput()
			return string(out) + b.String(), strings.Contains(string(out), want)
		})
	}
	says("queued in", "submit", "--", "true")
	says("it cannot listen on "+address+" (address already in use)", "doctor")
	says("may be another user's", "dashboard")
	taken.Close()
	says("http://"+address+"/login?code=", "dashboard")
}

// TestDeadSocketHidesNobody checks that a socket that a user's own killed server left behind does not hide the socket
// of the machine's server.
func TestDeadSocketHidesNobody(t *testing.T) {
	dir := t.TempDir()
	make := func(name string, alive bool) string {
		l, err := net.Listen("unix", dir+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if l.(*net.UnixListener).SetUnlinkOnClose(false); !alive {
			l.Close()
		}
		return dir + "/" + name
	}
	dead, other, none := make("a", false), make("b", true), dir+"/none"
	for _, c := range []struct {
		want  string
		paths []string
	}{
		{other, []string{dead, other}}, {other, []string{other, dead}}, {other, []string{none, other}},
		{dead, []string{dead, none}}, {"", []string{none}},
	} {
		if got := firstSocket(c.paths); got != c.want {
			t.Errorf("of %v it takes %s", c.paths, got)
		}
	}
}
