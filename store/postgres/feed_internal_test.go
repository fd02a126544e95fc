package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/pgtest"
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
	subs, err := s.Submit(t.Context(), []*fairlead.Job{{Kind: "k", User: "ann", Pool: "a", Tasks: 1}})
	if err != nil || subs[0].Err != nil {
		t.Fatal(err, subs)
	}
}

func (s *Store) must(t *testing.T, sql string) {
	t.Helper()
	if _, err := s.pool.Exec(t.Context(), s.sql(sql)); err != nil {
		t.Fatal(err)
	}
}

// TestFeedIsTrimmed forgets what everybody has seen who was there minutes ago, but neither
// what came since nor what was committed since.
func TestFeedIsTrimmed(t *testing.T) {
	s := openInternal(t)
	add(t, s)
	late, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Exec(t.Context(), s.sql(`INSERT INTO @.feed (changes) VALUES ('')`)); err != nil {
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
		if err := s.query(t.Context(), `SELECT count(*) FROM @.feed`, func(r pgx.Rows) error { return r.Scan(&left) }); err != nil || left != 2 {
			t.Errorf("after clearing away %d times %d rows are left, want 2 (%v)", n+1, left, err)
		}
	}
}

// TestFeedKeepsTransactionsAgain: what looks as if it had been seen long ago, because a database
// that crashed has given the number of its transaction again, is not cleared away.
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
	if err := s.query(t.Context(), `SELECT count(*) FROM @.feed`, func(r pgx.Rows) error { return r.Scan(&left) }); err != nil || left != 1 {
		t.Errorf("%d rows are left, want the later one (%v)", left, err)
	}
}

// TestFeedIsBehind: who did not look for long, or finds a database that knows less than he
// does, takes a new snapshot.
func TestFeedIsBehind(t *testing.T) {
	s := openInternal(t)
	add(t, s)
	for name, spoil := range map[string]func(){
		"late":     func() { s.feed.at = s.feed.at.Add(-time.Hour) },
		"failover": func() { s.feed.seen = "4000000000:4000000000:" },
	} {
		cursor, err := s.Snapshot(t.Context(), func(fairlead.Change) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Changes(t.Context(), cursor, 0); err != nil {
			t.Fatal(err)
		}
		spoil()
		if _, _, err := s.Changes(t.Context(), cursor, 0); !errors.Is(err, fairlead.ErrBehind) {
			t.Errorf("%s: %v, want that the cursor is too old", name, err)
		}
	}
}
