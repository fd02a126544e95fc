//go:build linux

package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/queue"
	"golang.org/x/sys/unix"
)

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "plain", "text", 0o644)
	write(t, dir, "garbage", "text", 0o755)
	write(t, dir, "lost", "#!/no/such/interpreter\n", 0o755)
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := Spec{Argv: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: dir}
	for _, test := range []struct {
		change func(*Spec)
		want   string // prefix of the text
		is     error
	}{
		{func(s *Spec) { s.Argv = nil }, "there is no command", nil},
		{func(s *Spec) { s.Argv = []string{"a\x00b"} }, "a\x00b: a zero byte", nil},
		{func(s *Spec) { s.Argv = []string{"nix"} }, "command not found: nix (PATH is /usr/bin:/bin)", errCommandNotFound},
		{func(s *Spec) {
			s.Argv, s.Env = []string{"nix"}, []string{"PATH=/" + strings.Repeat("x", 100_000)}
		}, "command not found: nix (PATH is /" + strings.Repeat("x", maxPathShown-1) + "...)", errCommandNotFound},
		{
			func(s *Spec) { s.Env = []string{"PATH=" + dir}; s.Argv = []string{"plain"} }, "plain: permission denied",
			fs.ErrPermission,
		},
		{func(s *Spec) { s.Argv = []string{"./nix"} }, "command not found: ./nix in directory /", errCommandNotFound},
		{func(s *Spec) { s.Argv = []string{"./plain"} }, "./plain: permission denied", fs.ErrPermission},
		{func(s *Spec) { s.Argv = []string{dir} }, dir + ": permission denied", fs.ErrPermission},
		{func(s *Spec) { s.Argv = []string{"./garbage"} }, "./garbage: neither a program", unix.ENOEXEC},
		{func(s *Spec) { s.Argv = []string{"./lost"} }, "./lost: its interpreter", fs.ErrNotExist},
		{func(s *Spec) { s.Dir = dir + "/nix" }, "directory " + dir + "/nix: no such file", fs.ErrNotExist},
		{func(s *Spec) { s.Dir = dir + "/plain" }, "directory " + dir + "/plain: not a directory", unix.ENOTDIR},
		{func(s *Spec) { s.Dir = "relative" }, "directory relative: it has to be", nil},
		{func(s *Spec) { s.Stdout = "nix/out" }, "output nix/out: no such file", fs.ErrNotExist},
		{func(s *Spec) { s.Stdout = "." }, "output .: is a directory", unix.EISDIR},
		{func(s *Spec) { s.Stdout = "fifo" }, "output fifo: no such device", unix.ENXIO},
		{func(s *Spec) { s.Stderr = "nix/err" }, "error output nix/err: no such file", fs.ErrNotExist},
	} {
		s := base
		test.change(&s)
		_, err := runner(t).Start(s)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("error %v, want %s...", err, test.want)
		}
		if test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("error %v is not %v", err, test.is)
		}
	}
}

func write(t *testing.T, dir, name, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestNotFound checks which missing names are probably missing everywhere: those whose directories are there.
func TestNotFound(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"lost", "home/ann"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	base := Spec{Argv: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: dir}
	command := func(name string) func(*Spec) { return func(s *Spec) { s.Argv = []string{name} } }
	for name, test := range map[string]struct {
		change   func(*Spec)
		exit     int
		notFound bool
	}{
		"a command":                     {command("pyhton"), 127, true},
		"a command in the directory":    {command("./trian.sh"), 127, true},
		"a command below it":            {command("bni/train.sh"), 127, true},
		"a path":                        {command(dir + "/nix"), 127, true},
		"a path in a lost file system":  {command(dir + "/lost/bin/tool"), 127, false},
		"a path that begins elsewhere":  {command("/no-such-top/bin/tool"), 127, false},
		"no program":                    {command(dir), 126, false},
		"a directory":                   {func(s *Spec) { s.Dir = dir + "/home/annn/x" }, 0, true},
		"a lost directory":              {func(s *Spec) { s.Dir = dir + "/lost/ann" }, 0, false},
		"an output":                     {func(s *Spec) { s.Stdout = "home/annn/out" }, 0, true},
		"an output in a lost directory": {func(s *Spec) { s.Stderr = "lost/ann/out" }, 0, false},
		"a search in a lost directory": {func(s *Spec) {
			s.Argv, s.Env = []string{"nix"}, []string{"PATH=/usr/bin:" + dir + "/lost/bin"}
		}, 127, false},
		"a search in a directory that this machine lacks": {func(s *Spec) {
			s.Argv, s.Env = []string{"nix"}, []string{"PATH=/no-such-top/bin:/usr/bin:" + dir + "/home/bin"}
		}, 127, true},
	} {
		s := base
		test.change(&s)
		_, err := runner(t).Start(s)
		var of *NameError
		if !errors.As(err, &of) || of.Exit != test.exit || of.NotFound != test.notFound {
			t.Errorf("%s: %v, %+v", name, err, of)
		}
	}
}

// TestLostServer checks that errors of a lost file system are faults of the machine.
func TestLostServer(t *testing.T) {
	var machine *MachineError
	for _, e := range []error{unix.ESTALE, unix.EIO, unix.ENOTCONN, unix.ETIMEDOUT, unix.EHOSTDOWN} {
		if err := blame(&NameError{Err: e, Exit: exitNotExecutable}); !errors.As(err, &machine) {
			t.Errorf("%v is no fault of the machine", e)
		}
	}
}

// TestLookup checks that the command is found as the process itself would find it.
func TestLookup(t *testing.T) {
	r := runner(t)
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "hello", "#!/bin/sh\necho top $0\n", 0o755)
	write(t, dir, "bin/hello", "#!/bin/sh\necho bin $0\n", 0o755)
	for _, test := range []struct{ command, path, want string }{
		{"./hello", "/bin", "top ./hello\n"},
		{"bin/hello", "/bin", "bin bin/hello\n"},
		{"hello", "bin:/bin", "bin bin/hello\n"},
		{"hello", "/bin::bin", "top ./hello\n"},
		{"hello", "/no/such:" + dir + "/bin", "bin " + dir + "/bin/hello\n"},
	} {
		s := Spec{Argv: []string{test.command}, Env: []string{"PATH=" + test.path}, Dir: dir, Stdout: "out"}
		start(t, r, s).Wait()
		if got := output(t, s); got != test.want {
			t.Errorf("%s in %s: %q, want %q", test.command, test.path, got, test.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OURS", "secret")
	s := shell(t, "env | grep -v ^PWD= | sort")
	s.Env = append(s.Env, "A=1", "FAIRLEAD_TASK=another/1/0/1")
	s.Mark = "process-test/17/0/2"
	start(t, runner(t), s).Wait()
	want := "A=1\nFAIRLEAD_TASK=process-test/17/0/2\nPATH=/usr/bin:/bin\n"
	if got, _ := strings.CutSuffix(output(t, s), "_=/usr/bin/env\n"); got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func TestOutput(t *testing.T) {
	r := runner(t)
	s := shell(t, "echo one; echo two >&2")
	start(t, r, s).Wait()
	start(t, r, s).Wait()
	if got := output(t, s); got != "one\ntwo\n" {
		t.Errorf("together: %q", got)
	}
	s.Append, s.Stderr = true, "out"
	start(t, r, s).Wait()
	if got := output(t, s); got != "one\ntwo\none\ntwo\n" {
		t.Errorf("appended: %q", got)
	}
	s.Append, s.Stderr = false, s.Dir+"/err"
	start(t, r, s).Wait()
	if got := output(t, s); got != "one\n" {
		t.Errorf("output alone: %q", got)
	}
	if got, _ := os.ReadFile(s.Stderr); string(got) != "two\n" {
		t.Errorf("errors alone: %q", got)
	}
	s.Stdout, s.Stderr = "", ""
	checkEnd(t, start(t, r, s).Wait(), queue.Outcome{State: queue.Succeeded})
}
