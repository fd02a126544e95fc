package fairlead_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/store/memory"
)

// TestRunEndsWithoutItsStore: an app whose store is away when the app should end, ends when the grace period is over,
// whether its tasks have ended before or follow their context.
func TestRunEndsWithoutItsStore(t *testing.T) {
	const grace = 10 * time.Second
	for name, goAway := range map[string]func(*enginetest.AwayStore){
		"it refuses":   func(s *enginetest.AwayStore) { s.Refuses.Store(true) },
		"it is silent": func(s *enginetest.AwayStore) { s.Silent.Store(true) },
		"it is half out": func(s *enginetest.AwayStore) {
			s.Refuses.Store(true)
			time.AfterFunc(5*time.Second, func() { s.Silent.Store(true) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &enginetest.AwayStore{Store: memory.New("cpu")}
				app, err := fairlead.New(t.Context(), store, fairlead.Options{Slots: 2, Grace: grace})
				if err != nil {
					t.Fatal(err)
				}
				fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[resize]) error {
					if w.Args.Width > 0 {
						<-ctx.Done()
						return ctx.Err()
					}
					time.Sleep(time.Second)
					return nil
				})
				if _, err := app.Submit(t.Context(), fairlead.Job{User: "ann", Args: resize{}},
					fairlead.Job{User: "ann", Args: resize{Width: 1}}); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- app.Run(ctx) }()
				synctest.Wait()
				goAway(store)
				time.Sleep(3 * time.Second) // one task has ended, and could not report that
				stop()
				at := time.Now()
				back := time.AfterFunc(time.Minute, func() { store.Refuses.Store(false); store.Silent.Store(false) })
				defer back.Stop()
				if err := <-ended; err == nil {
					t.Error("Run does not say that the store could not be told")
				}
				if took := time.Since(at); took < grace || took > grace+10*time.Second {
					t.Errorf("Run returned after %v, with a grace period of %v", took, grace)
				}
			})
		})
	}
}

// TestRunReturnsWhatWentWrong: an app with a schedule returns an error if its worker cannot begin.
func TestRunReturnsWhatWentWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &enginetest.AwayStore{Store: memory.New("cpu")}
		app, err := fairlead.New(t.Context(), store, fairlead.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fairlead.Handle(app, func(context.Context, *fairlead.Work[resize]) error { return nil })
		job := func(time.Time) fairlead.Job { return fairlead.Job{User: "ann", Args: resize{}} }
		if err := app.Cron("nightly", "@daily", job); err != nil {
			t.Fatal(err)
		}
		store.Refuses.Store(true)
		ended := make(chan error, 1)
		go func() { ended <- app.Run(t.Context()) }()
		select {
		case err := <-ended:
			if err == nil {
				t.Error("Run says that all is well")
			}
		case <-time.After(time.Hour):
			t.Error("Run goes on without a worker")
		}
	})
}
