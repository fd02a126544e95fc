package postgres_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/postgres"
	"github.com/fairlead/fairlead/store/sqlite"
	"github.com/fairlead/fairlead/store/storetest"
)

// TestMain also fails if goroutines are left when all tests have ended and all stores are closed.
func TestMain(m *testing.M) {
	status := pgtest.Main(m)
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// inVirtualTime are settings for tests in virtual time, in which days pass in an instant.
const inVirtualTime = "&pool_health_check_period=100000h&pool_max_conn_lifetime=100000h&pool_max_conn_idle_time=100000h"

// open opens a store in the virtual time of a test.
func open(t testing.TB) queue.Store {
	t.Helper()
	url, schema := pgtest.URL(t)
	return at(t, url+inVirtualTime, postgres.Options{Schema: schema, Now: time.Now})
}

func at(t testing.TB, url string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at the tests of several servers")
	}
	storetest.Run(t, open)
}

// seeds returns the number of runs of random operations.
func seeds(n int) int {
	if testing.Short() {
		return 1
	}
	return n
}

func TestTwinOfMemory(t *testing.T) {
	storetest.Twins(t, func(testing.TB) queue.Store { return memory.New("cpu") }, open, seeds(8))
}

func TestTwinOfSQLite(t *testing.T) {
	storetest.Twins(t, func(t testing.TB) queue.Store {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "fairlead.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, open, seeds(6))
}

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(t testing.TB) queue.Store {
		url, schema := pgtest.Durable(t)
		return at(t, url, postgres.Options{Schema: schema})
	})
}

func BenchmarkAddHistory(b *testing.B) {
	url, schema := pgtest.Durable(b)
	storetest.BenchAddHistory(b, at(b, url, postgres.Options{Schema: schema}), 250)
}
