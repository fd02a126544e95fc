package tempdir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/filelock"
)

// TestTempDirRemovesWhatIsLeft checks that a new temporary directory removes that of a killed process, but
// not that of a living process, nor anything else.
func TestTempDirRemovesWhatIsLeft(t *testing.T) {
	under := t.TempDir()
	make := func(name string, parts ...string) {
		t.Helper()
		dir := filepath.Join(under, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		past := time.Now().Add(-time.Hour)
		for _, part := range parts {
			path := filepath.Join(dir, part)
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(dir, past, past); err != nil {
			t.Fatal(err)
		}
	}
	make("x-1", lockName, "db")
	make("x-2", lockName)
	make("x-3", "somebody's")
	make("y-1", lockName)
	if err := os.Symlink(filepath.Join(under, "y-1"), filepath.Join(under, "x-4")); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Hold(filepath.Join(under, "x-2", lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	dir, cleanup, err := New(under, "x-")
	if err != nil {
		t.Fatal(err)
	}
	other, cleanup2, err := New(under, "x-")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"x-2", "x-3", "x-4", filepath.Base(dir), filepath.Base(other), "y-1"}
	slices.Sort(want)
	if got := names(t, under); !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
	cleanup()
	cleanup2()
	if got := names(t, under); !slices.Equal(got, []string{"x-2", "x-3", "x-4", "y-1"}) {
		t.Errorf("at the end there are %v", got)
	}
}

// names returns the names of the entries of a directory, in order.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
