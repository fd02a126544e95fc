package postgres_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
	"github.com/fairlead/fairlead/store/storetest"
)

// makeOld turns a schema into one that an earlier version wrote.
func makeOld(t *testing.T, url, schema string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), `UPDATE `+schema+`.format SET version = 3`); err != nil {
		t.Fatal(err)
	}
}

func TestRenames(t *testing.T) {
	url, schema := pgtest.URL(t)
	open := func(t testing.TB) queue.Store {
		return at(t, url+inVirtualTime, postgres.Options{Schema: schema, Now: time.Now})
	}
	storetest.Renames(t, open, func(t *testing.T) { makeOld(t, url, schema) })
}

// TestRenamesOnce: of servers that start at once, one gives the pools their new names. While a server of an earlier
// version is running, none does, and each says so.
func TestRenamesOnce(t *testing.T) {
	stores, url, schema := several(t, 1)
	submit(t, stores[0], 3, 1, func(j *queue.Job) { j.User, j.Pool = "a b", "a_b" })
	if _, err := stores[0].Announce(t.Context(), queue.Server{Name: "old-1"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	makeOld(t, url, schema)
	start := func() (*postgres.Store, error) {
		return postgres.Open(t.Context(), url+"&pool_max_conns=4",
			postgres.Options{Schema: schema, Timeout: 20 * time.Second})
	}
	const others = "servers of an earlier version use the database (old-1): stop all of them"
	if s, err := start(); err == nil || !strings.Contains(err.Error(), others) {
		t.Errorf("beside a server of an earlier version: %v, %v", s, err)
	}
	if err := stores[0].Retire(t.Context(), "old-1"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := start()
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			jobs, err := s.Jobs(t.Context(), queue.Query{Pool: "a=20b"})
			if entries, err2 := s.Audited(t.Context(), queue.AuditQuery{}); err != nil || err2 != nil || len(jobs) != 3 ||
				len(entries) != 1 {
				t.Errorf("%d jobs in the pool, %d entries in the record, %v %v", len(jobs), len(entries), err, err2)
			}
		})
	}
	wg.Wait()
}
