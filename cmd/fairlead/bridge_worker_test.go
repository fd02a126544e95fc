package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkerOfAllUsers checks that a worker refuses to run the jobs of all users as root without --allow-root, or as
// the user of a server to which other users can connect.
func TestWorkerOfAllUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	uid := os.Getuid()
	if uid == 0 {
		uid = 4711
		if err := os.Chown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{path, filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		any, allowRoot bool
		uid            int
		want           string
	}{
		{true, false, 0, "run the jobs of all users as root"}, {true, true, 0, ""}, {false, false, 0, ""},
		{true, false, uid, "the user of the server at " + path}, {false, false, uid, ""}, {true, false, uid + 1, ""},
	} {
		w := &brokerWorker{app: &app{server: path}, any: c.any, allowRoot: c.allowRoot}
		if err := w.checkAnyUser(c.uid); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
