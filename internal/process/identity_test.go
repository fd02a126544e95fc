//go:build linux

package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/queue"
)

var nobody = &Identity{UID: 65534, GID: 65533, Groups: []uint32{65531, 65532}}

// places returns a directory of root that everybody may read, with a file "secret" that only root may read,
// and a directory of the user.
func places(t *testing.T) (roots, users string) {
	t.Helper()
	asRoot(t)
	base, err := os.MkdirTemp("", "process") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	roots, users = base+"/root", base+"/user"
	for _, dir := range []string{base, roots, users} {
		os.Mkdir(dir, 0o755)
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(users, int(nobody.UID), int(nobody.GID)); err != nil {
		t.Fatal(err)
	}
	write(t, roots, "secret", "keep", 0o600)
	return roots, users
}

func TestRunAs(t *testing.T) {
	_, users := places(t)
	s := shell(t, "id -u; id -g; id -G; grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status")
	s.Dir, s.As = users, nobody
	checkEnd(t, start(t, runner(t), s).Wait(), queue.Outcome{State: queue.Succeeded})
	want := "65534\n65533\n65533 65531 65532\nNoNewPrivs:\t1\nCapEff:\t0000000000000000\n"
	if got := output(t, s); got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	var stat unix.Stat_t
	if err := unix.Stat(users+"/out", &stat); err != nil || stat.Uid != nobody.UID || stat.Gid != nobody.GID {
		t.Errorf("the output belongs to %d:%d (%v)", stat.Uid, stat.Gid, err)
	}
}

// TestOutputWithRightsOfUser checks that a user cannot make us write where the user may not, neither by a
// path nor through a link.
func TestOutputWithRightsOfUser(t *testing.T) {
	roots, users := places(t)
	r := runner(t)
	for link, target := range map[string]string{"old": roots + "/secret", "new": roots + "/planted", "dir": roots} {
		if err := os.Symlink(target, filepath.Join(users, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{roots + "/secret", roots + "/planted", "old", "new", "dir/planted", "../root/secret"} {
		for _, keep := range []bool{false, true} {
			s := shell(t, "echo overwritten")
			s.Dir, s.As, s.Stdout, s.Append = users, nobody, path, keep
			if _, err := r.Start(s); !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), "output "+path) {
				t.Errorf("output to %s: %v", path, err)
			}
			s.Stdout, s.Stderr = "out", path
			if _, err := r.Start(s); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("error output to %s: %v", path, err)
			}
		}
	}
	if got, _ := os.ReadFile(roots + "/secret"); string(got) != "keep" {
		t.Errorf("the file of root has %q", got)
	}
	if _, err := os.Lstat(roots + "/planted"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was planted: %v", err)
	}
}

// TestLookupWithRightsOfUser checks that the directory and the command are looked up with the user's rights.
func TestLookupWithRightsOfUser(t *testing.T) {
	roots, users := places(t)
	write(t, roots, "tool", "#!/bin/sh\n", 0o700)
	s := Spec{Argv: []string{roots + "/tool"}, Dir: users, As: nobody}
	r := runner(t)
	if _, err := r.Start(s); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("command of root: %v", err)
	}
	if err := os.Chmod(roots, 0o700); err != nil {
		t.Fatal(err)
	}
	s = Spec{Argv: []string{"/bin/true"}, Dir: roots, As: nobody}
	if _, err := r.Start(s); !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), "directory "+roots) {
		t.Errorf("directory of root: %v", err)
	}
}

// TestLogOfUser checks that a task can write to our log as a user who could not open it.
func TestLogOfUser(t *testing.T) {
	_, users := places(t)
	l := logs(t)
	f, err := l.Create(17, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := shell(t, "id -u")
	s.Dir, s.As, s.Stdout, s.Log = users, nobody, "", f
	start(t, runner(t), s).Wait()
	f.Close()
	if x, err := l.ReadAt(17, 0, 1, 0, 100); string(x.Data) != "65534\n" || err != nil {
		t.Errorf("log %q, %v", x.Data, err)
	}
}

// TestIdentityEnds checks that no thread that is reused keeps the rights of a user.
func TestIdentityEnds(t *testing.T) {
	roots, _ := places(t)
	for range 100 {
		err := nobody.do(func() error {
			_, err := os.ReadFile(roots + "/secret")
			return err
		})
		if !errors.Is(err, fs.ErrPermission) {
			t.Fatalf("as user: %v", err)
		}
		if _, err := os.ReadFile(roots + "/secret"); err != nil {
			t.Fatalf("as root: %v", err)
		}
	}
}

// TestGroupsOfUser checks that files are opened, and commands run, with all groups of the user and with none
// of ours.
func TestGroupsOfUser(t *testing.T) {
	_, users := places(t)
	ours, err := syscall.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setgroups([]int{0}); err != nil { // also for the processes that this test starts
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Setgroups(ours) })
	for _, c := range []struct {
		gid     int
		allowed bool
	}{{0, false}, {65531, true}, {65532, true}, {65530, false}} {
		file := users + "/shared"
		write(t, users, "shared", "", 0o060)
		if err := errors.Join(os.Chown(file, 0, c.gid), os.Chmod(file, 0o060)); err != nil {
			t.Fatal(err)
		}
		s := shell(t, "exit 0")
		s.Dir, s.As, s.Stdout = users, nobody, file
		p, err := runner(t).Start(s)
		if err == nil {
			p.Wait()
		}
		if (err == nil) != c.allowed || err != nil && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("output to a file of group %d: %v", c.gid, err)
		}
		s = shell(t, "cat "+file)
		s.Dir, s.As = users, nobody
		if o := start(t, runner(t), s).Wait(); (o.State == queue.Succeeded) != c.allowed {
			t.Errorf("a command reads a file of group %d: %+v", c.gid, o)
		}
		os.Remove(file)
	}
}
