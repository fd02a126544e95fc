package socket_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/fairlead/fairlead/internal/socket"
)

// TestClosed checks that a socket is closed by its own mode, or by that of a directory above it.
func TestClosed(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(base), 0o755); err != nil { // the directory of this test
		t.Fatal(err)
	}
	dir := filepath.Join(base, "a", "b")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		socket, above os.FileMode
		want          bool
	}{
		{0o666, 0o755, false}, {0o660, 0o755, false}, {0o666, 0o711, false}, {0o666, 0o710, false}, {0o600, 0o755, true},
		{0o644, 0o755, true}, {0o666, 0o700, true}, {0o666, 0o744, true},
	} {
		if err := os.Chmod(filepath.Dir(dir), c.above); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.socket); err != nil {
			t.Fatal(err)
		}
		if got := socket.Closed(path); got != c.want {
			t.Errorf("a socket of mode %o below a directory of mode %o is closed: %v", c.socket, c.above, got)
		}
	}
	if socket.Closed(filepath.Join(base, "nothing")) {
		t.Error("a socket that is not there is closed")
	}
}
