package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestDatabaseIsAway: calls that cannot reach the database return a special error when the store's patience is over. If
// the caller's context ends first, the call returns only that.
func TestDatabaseIsAway(t *testing.T) {
	t.Parallel()
	cluster := pgtest.OwnCluster(t)
	patient := at(t, cluster.URL(), postgres.Options{}) // creating the tables and submitting may take longer
	id := submit(t, patient, 1, 1)[0]
	patient.Close()
	s := at(t, cluster.URL(), postgres.Options{Timeout: 4 * time.Second})
	defer s.Close()
	cluster.Halt()
	var calls sync.WaitGroup
	for name, call := range map[string]func(context.Context) error{
		"Jobs": func(ctx context.Context) error { _, err := s.Jobs(ctx, queue.Query{}); return err },
		"Submit": func(ctx context.Context) error {
			_, err := s.Submit(ctx, []*queue.Job{{User: "ann", Pool: "a", Kind: "k", Tasks: 1}})
			return err
		},
		"Lease": func(ctx context.Context) error {
			_, err := s.Lease(ctx, "h", []queue.Want{{Job: id}}, time.Minute)
			return err
		},
		"Changes":  func(ctx context.Context) error { _, _, err := s.Changes(ctx, 0, 10); return err },
		"Usage":    func(ctx context.Context) error { _, err := s.Usage(ctx); return err },
		"Set":      func(ctx context.Context) error { return s.Set(ctx, "key", "value") },
		"KeepDays": func(ctx context.Context) error { return s.KeepDays(ctx, 3) },
		"Snapshot": func(ctx context.Context) error {
			_, err := s.Snapshot(ctx, func(queue.Change) error { return nil })
			return err
		},
	} {
		calls.Go(func() {
			if err := call(t.Context()); !errors.Is(err, queue.ErrUnavailable) {
				t.Errorf("%s: %v", name, err)
			}
		})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := call(gone); !errors.Is(err, context.Canceled) || errors.Is(err, queue.ErrUnavailable) {
			t.Errorf("%s for a caller who has gone: %v", name, err)
		}
	}
	calls.Wait()
	if err := cluster.Run(); err != nil {
		t.Fatal(err)
	}
	for { // the database may not answer at once
		switch _, err := s.Jobs(t.Context(), queue.Query{}); {
		case err == nil:
			return
		case !errors.Is(err, queue.ErrUnavailable):
			t.Fatal(err)
		}
	}
}
