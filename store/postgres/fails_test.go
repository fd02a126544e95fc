package postgres_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestDatabaseFails ends the database at once, and starts it again, while jobs are submitted, leased and finished:
// calls wait for it, acknowledged changes are there, and callers that wait for changes are woken again. The log says
// when the database was away and when it was back.
func TestDatabaseFails(t *testing.T) {
	url, schema := pgtest.Durable(t)
	var log lines
	s := at(t, url, postgres.Options{Schema: schema, Grace: time.Hour, Timeout: 5 * time.Minute,
		Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer s.Close()
	c := make(chan struct{}, 1)
	defer s.Notify(c)()
	before := submit(t, s, 10, 2)
	grants, err := s.Lease(t.Context(), "h", []queue.Want{{Job: before[0]}, {Job: before[2]}}, time.Nanosecond)
	if err != nil || grants[0].Lease == nil || grants[1].Lease == nil {
		t.Fatal(grants, err)
	}
	finished := make(chan error, 1)
	pgtest.Restart(t, func() {
		go func() {
			v, err := s.Finish(context.Background(),
				[]queue.Result{{Ref: grants[0].Lease.Ref, Outcome: queue.Outcome{State: queue.Succeeded}}})
			if err == nil {
				err = v[0].Err
			}
			finished <- err
		}()
	})
	if err := <-finished; err != nil {
		t.Errorf("a call that came while the database was away: %v", err)
	}
	if lost, err := s.Expire(t.Context(), ""); err != nil || len(lost) > 0 {
		t.Errorf("lost %v, whose leases nobody could renew (%v)", lost, err)
	}
	jobs, err := s.Jobs(t.Context(), queue.Query{})
	if err != nil || len(jobs) != len(before) || jobs[0].State != queue.Succeeded || jobs[1].State != queue.Waiting {
		t.Errorf("afterwards %d jobs, %v", len(jobs), err)
	}
	id := submit(t, s, 1, 1)[0]
	f := follow(s)
	for deadline := time.After(await.Patience); f.seen[queue.Waited][id] == 0; f.read(t) {
		select {
		case <-c:
		case <-deadline:
			t.Fatal("not woken after the failure")
		}
	}
	if away, back := log.count("does not answer"), log.count("answers again"); away != back {
		t.Errorf("the log says %d times that the database was away, and %d times that it was back", away, back)
	}
}

// lines is the text of a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// TestFeedAfterCrash: a database that crashed reuses the numbers of transactions. Changes of these transactions are
// read like all others.
func TestFeedAfterCrash(t *testing.T) {
	t.Parallel()
	cluster := pgtest.OwnCluster(t)
	s := at(t, cluster.URL(), postgres.Options{})
	defer s.Close()
	f := follow(s)
	total, again := 0, 0
	for range 2 {
		before := undo(t, cluster.URL(), 40)
		f.read(t)
		cluster.Halt()
		if err := cluster.Run(); err != nil {
			t.Fatal(err)
		}
		if undo(t, cluster.URL(), 1) < before {
			again++
		}
		for range 45 { // until nothing shows any more that the numbers went back
			submit(t, s, 1, 1)
			total++
		}
		if f.read(t); len(f.seen[queue.Waited]) != total {
			t.Fatalf("read of %d jobs, want %d", len(f.seen[queue.Waited]), total)
		}
	}
	t.Logf("numbers were given again after %d of 2 crashes", again)
}

// undo begins transactions and rolls them back, and returns the number of the last.
func undo(t *testing.T, url string, n int) (xid int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for range n {
		if err := conn.QueryRow(t.Context(), `SELECT pg_current_xact_id()::text::bigint`).Scan(&xid); err != nil {
			t.Fatal(err)
		}
	}
	return xid
}
