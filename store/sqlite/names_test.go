package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/sqlite"
	"github.com/fairlead/fairlead/store/storetest"
)

func TestRenames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	open := func(t testing.TB) queue.Store {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	storetest.Renames(t, open, func(t *testing.T) { execute(t, path, "PRAGMA user_version = 9") })
}
