package postgres

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
)

func openInternal(t *testing.T) *Store {
	t.Helper()
	url, schema := pgtest.URL(t)
	s, err := Open(t.Context(), url, Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func add(t *testing.T, s *Store) {
	t.Helper()
	subs, err := s.Submit(t.Context(), []*queue.Job{{Kind: "k", User: "ann", Pool: "a", Tasks: 1}})
	if err != nil || subs[0].Err != nil {
		t.Fatal(err, subs)
	}
}

func (s *Store) must(t *testing.T, sql string) {
	t.Helper()
	if _, err := s.db.pool.Exec(t.Context(), s.db.sql(sql)); err != nil {
		t.Fatal(err)
	}
}

// TestFeedIsTrimmed: changes that all readers had seen some minutes ago are removed. Later changes stay, including
// changes that were made before and committed since.
func TestFeedIsTrimmed(t *testing.T) {
	s := openInternal(t)
	add(t, s)
	late, err := s.db.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Exec(t.Context(), s.db.sql(`INSERT INTO @.feed (changes) VALUES ('')`)); err != nil {
		t.Fatal(err)
	}
	if err := s.maintain(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	s.must(t, `UPDATE @.feed_kept SET at = at - 600 * 1000000000::bigint`)
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	add(t, s)
	for n := range 2 {
		if err := s.maintain(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		left := 0
		if err := s.db.query(t.Context(), `SELECT count(*) FROM @.feed`,
			func(r pgx.Rows) error { return r.Scan(&left) }); err != nil || left != 2 {
			t.Errorf("after clearing away %d times %d rows are left, want 2 (%v)", n+1, left, err)
		}
	}
}

// TestFeedKeepsTransactionsAgain: a database that crashed reuses the number of a transaction, so that a new change
// looks like one that was seen long ago. It is not removed.
func TestFeedKeepsTransactionsAgain(t *testing.T) {
	s := openInternal(t)
	add(t, s)
	if err := s.maintain(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	s.must(t, `UPDATE @.feed_kept SET at = at - 600 * 1000000000::bigint, seen = '4000000000:4000000000:'`)
	add(t, s)
	if err := s.maintain(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	left := 0
	if err := s.db.query(t.Context(), `SELECT count(*) FROM @.feed`,
		func(r pgx.Rows) error { return r.Scan(&left) }); err != nil || left != 1 {
		t.Errorf("%d rows are left, want the later one (%v)", left, err)
	}
}

// TestFeedIsBehind: a reader that has not read for long, or that knows more than the database does, takes a new
// snapshot.
func TestFeedIsBehind(t *testing.T) {
	s := openInternal(t)
	add(t, s)
	for name, spoil := range map[string]func(){
		"late":     func() { s.feed.at = s.feed.at.Add(-time.Hour) },
		"failover": func() { s.feed.seen = "4000000000:4000000000:" },
	} {
		cursor, err := s.Snapshot(t.Context(), func(queue.Change) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Changes(t.Context(), cursor, 0); err != nil {
			t.Fatal(err)
		}
		spoil()
		if _, _, err := s.Changes(t.Context(), cursor, 0); !errors.Is(err, queue.ErrBehind) {
			t.Errorf("%s: %v, want that the cursor is too old", name, err)
		}
	}
}

// TestOwnLeasesDoNotWake: changes by others, and jobs that begin to wait, wake a program at once. Its own leases and
// ends do not: it knows them, and would read without result after each of its own transactions.
func TestOwnLeasesDoNotWake(t *testing.T) {
	t.Parallel()
	run := []queue.Run{{Ref: queue.Ref{JobID: 1, Attempt: 1}}}
	for _, test := range []struct {
		changes []queue.Change
		want    bool
	}{
		{nil, false},
		{[]queue.Change{{What: queue.Leased, Runs: run}}, false},
		{[]queue.Change{{What: queue.Ended, Runs: run}, {What: queue.Done, Runs: run}}, false},
		{[]queue.Change{{What: queue.Done}}, true}, // a held job was canceled
		{[]queue.Change{{What: queue.Done, Runs: run}, {What: queue.Waited}}, true},
		{[]queue.Change{{What: queue.Stop, Runs: run}}, true},
	} {
		if got := wakes(test.changes); got != test.want {
			t.Errorf("%+v: wakes %v, want %v", test.changes, got, test.want)
		}
	}
}

// TestNewPoolsTogether: simultaneous calls that use the same new pools in different orders create all of them, each in
// one statement, and do not block each other.
func TestNewPoolsTogether(t *testing.T) {
	t.Parallel()
	s := openInternal(t)
	const callers, pools = 8, 200
	var wg sync.WaitGroup
	for c := range callers {
		jobs := make([]*queue.Job, pools)
		for i := range jobs {
			user := fmt.Sprint("user", (i*(2*c+1)+c)%pools)
			jobs[i] = &queue.Job{Kind: "k", User: user, Pool: user, Tasks: 1}
		}
		wg.Go(func() {
			if _, err := s.Submit(t.Context(), jobs); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	made := 0
	err := s.db.query(t.Context(), `SELECT path FROM @.pool WHERE path LIKE 'user%'`,
		func(r pgx.Rows) error { made++; return nil })
	if err != nil || made != pools {
		t.Errorf("there are %d pools, %v, want %d", made, err, pools)
	}
	var counted int64
	accounts, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range accounts.Pools {
		counted += int64(a.Waiting)
	}
	if counted != callers*pools {
		t.Errorf("%d jobs are counted, want %d", counted, callers*pools)
	}
}
