package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestLostCommitIsHeard: if the commit of a transaction was not answered, even the store that began the transaction
// reads its changes from the feed. If the store read the feed before it knew that the answer is lost, it reads the
// whole state anew.
func TestLostCommitIsHeard(t *testing.T) {
	for name, early := range map[string]bool{"read after the loss": false, "read before the loss is known": true} {
		t.Run(name, func(t *testing.T) {
			url, schema := pgtest.URL(t)
			between := &losses{t: t}
			s := at(t, between.through(url, "cache_statement"), postgres.Options{Schema: schema})
			defer s.Close()
			id := submit(t, s, 1, 1)[0]
			cursor, err := s.Snapshot(t.Context(), func(queue.Change) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			x := loss{mark: "nobody-answers"}
			if early {
				x.then = func() {
					if _, cursor, err = s.Changes(context.Background(), cursor, 0); err != nil {
						t.Error(err)
					}
				}
			}
			lost := between.lose(x)
			_, failed := s.Lease(t.Context(), "nobody-answers", []queue.Want{{Job: id}}, time.Hour)
			if lost(); failed == nil || !strings.Contains(failed.Error(), "may have taken effect") {
				t.Fatalf("leased: %v", failed)
			}
			changes, _, err := s.Changes(t.Context(), cursor, 0)
			switch {
			case early && !errors.Is(err, queue.ErrBehind):
				t.Errorf("the feed goes on with %v (%v), though the lease was left out of it", changes, err)
			case !early && (err != nil || len(changes) != 1 || changes[0].What != queue.Leased):
				t.Errorf("the feed has %v (%v), want the lease", changes, err)
			}
		})
	}
}

// TestAnsweredCommitIsNotHeard: a store does not get its own leases from the feed.
func TestAnsweredCommitIsNotHeard(t *testing.T) {
	url, schema := pgtest.URL(t)
	s := at(t, url, postgres.Options{Schema: schema})
	defer s.Close()
	id := submit(t, s, 1, 1)[0]
	cursor, err := s.Snapshot(t.Context(), func(queue.Change) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lease(t.Context(), "h", []queue.Want{{Job: id}}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if changes, _, err := s.Changes(t.Context(), cursor, 0); err != nil || len(changes) > 0 {
		t.Errorf("the feed has %v (%v)", changes, err)
	}
}
