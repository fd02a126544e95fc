package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/sqlite"
	"github.com/fairlead/fairlead/store/storetest"
)

func open(t testing.TB) queue.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "fairlead.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) { storetest.Run(t, open) }

func TestTwinOfMemory(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 8
	}
	storetest.Twins(t, func(testing.TB) queue.Store { return memory.New("cpu") }, open, seeds)
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, open) }

func BenchmarkAddHistory(b *testing.B) {
	store := open(b)
	storetest.BenchAddHistory(b, store, 250)
	store.Close()
}
