package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSecretIsKept checks that agents in the same directory have the same secret, and agents in other
// directories have others.
func TestSecretIsKept(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	first, err := ownSecret(here)
	if err != nil || len(first) < 26 {
		t.Fatalf("%q, %v", first, err)
	}
	if again, err := ownSecret(here); err != nil || again != first {
		t.Errorf("again %q, %v", again, err)
	}
	if other, err := ownSecret(there); err != nil || other == first {
		t.Errorf("elsewhere %q, %v", other, err)
	}
	file := filepath.Join(here, identityFile)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(file, []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := ownSecret(here); err != nil || len(again) < 26 || again == first {
		t.Errorf("after it was cut off: %q, %v", again, err)
	}
}

// TestSecretFollowsNoLink checks that ownSecret neither reads nor writes through a link.
func TestSecretFollowsNoLink(t *testing.T) {
	dir, target := t.TempDir(), filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("a text of another file, which is long enough"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, identityFile)); err != nil {
		t.Fatal(err)
	}
	if got, err := ownSecret(dir); err == nil {
		t.Errorf("the secret is %q", got)
	}
}
