package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestDatabaseFails ends the database at once, and starts it again, while jobs are
// submitted, leased and finished: calls wait for it, what was acknowledged is there, and
// who waits for changes is woken again.
func TestDatabaseFails(t *testing.T) {
	url, schema := pgtest.Durable(t)
	s := at(t, url, postgres.Options{Schema: schema, Grace: time.Hour})
	defer s.Close()
	c := make(chan struct{}, 1)
	defer s.Notify(c)()
	before := submit(t, s, 10, 2)
	grants, err := s.Lease(t.Context(), "h", []fairlead.Want{{Job: before[0]}, {Job: before[2]}}, time.Nanosecond)
	if err != nil || grants[0].Lease == nil || grants[1].Lease == nil {
		t.Fatal(grants, err)
	}
	finished := make(chan error, 1)
	pgtest.Restart(t, func() {
		go func() {
			v, err := s.Finish(context.Background(), []fairlead.Result{{Ref: grants[0].Lease.Ref, Outcome: fairlead.Outcome{State: fairlead.Succeeded}}})
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
	jobs, err := s.Jobs(t.Context(), fairlead.Query{})
	if err != nil || len(jobs) != len(before) || jobs[0].State != fairlead.Succeeded || jobs[1].State != fairlead.Waiting {
		t.Errorf("afterwards %d jobs, %v", len(jobs), err)
	}
	id := submit(t, s, 1, 1)[0]
	f := follow(s)
	for deadline := time.After(20 * time.Second); f.seen[fairlead.Waited][id] == 0; f.read(t) {
		select {
		case <-c:
		case <-deadline:
			t.Fatal("not woken after the failure")
		}
	}
}
