package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/linear"
	"github.com/fairlead/fairlead/store/sqlite"
)

func TestLinearizable(t *testing.T) {
	linear.Run(t, func(t testing.TB) []queue.Store {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "fairlead.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return []queue.Store{s}
	}, 8, 3)
}
