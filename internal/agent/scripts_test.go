package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
)

// TestScriptsOfAnother checks that scriptDir refuses a symbolic link and a directory of another user, and
// does not change their modes.
func TestScriptsOfAnother(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Chmod(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, "scripts")); err != nil {
		t.Fatal(err)
	}
	if _, err := scriptDir(dir); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("a link: %v", err)
	}
	if info, err := os.Stat(other); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory behind the link is %v, %v", info.Mode(), err)
	}
	if os.Geteuid() != 0 {
		daemon.Skip(t, "only root can give a directory away")
	}
	if err := os.Chown(other, 1234, 1234); err != nil {
		t.Fatal(err)
	}
	if _, err := scriptDir(other); err == nil || !strings.Contains(err.Error(), "belongs to another user (1234)") {
		t.Errorf("another user's: %v", err)
	}
}
