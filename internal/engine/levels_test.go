package engine_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/store/memory"
)

// settingsOf are the settings that a store keeps, without the levels of pools: these are there whatever is set.
func settingsOf(t *testing.T, store *memory.Store) map[string]string {
	t.Helper()
	all, err := store.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	delete(all, "levels")
	return all
}

// TestClaimsOutlastARestart: a pool that waited while another one ran is served first, after a restart of the server
// as well as before. The store has the levels while the server runs, too, as a server that is killed keeps nothing.
func TestClaimsOutlastARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		var ran []string
		serve := func() (loop *engine.Loop, stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			loop, err := newLoop(ctx, store, engine.LoopOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			both.Go(func() { loop.Run(ctx) })
			work := func(o engine.WorkOptions) { both.Go(func() { loop.Work(ctx, o) }) }
			work(engine.WorkOptions{Slots: 1, Handlers: map[string]engine.Handler{
				"work": engine.HandlerFunc(func(ctx context.Context, l *fairlead.Lease) error {
					ran = append(ran, l.Job.Pool)
					length := time.Second
					if l.Job.Name == "long" {
						length = time.Minute
					}
					time.Sleep(length)
					return nil
				})}})
			synctest.Wait()
			return loop, func() { cancel(); both.Wait() } // afterwards no handler runs
		}
		loop, stop := serve()
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Name: "long"})
		time.Sleep(time.Second)
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Array: "1-40"}, fairlead.Job{Pool: "b", Array: "1-40"})
		time.Sleep(65 * time.Second)
		if all, err := store.Settings(t.Context()); err != nil || all["levels"] == "" {
			t.Errorf("%v: the store has %v", err, all)
		}
		stop()
		time.Sleep(2 * time.Minute)
		before := len(ran)
		_, stop = serve()
		time.Sleep(20 * time.Second)
		stop()
		if after := ran[before:]; len(after) < 15 || slices.Contains(after, "a") {
			t.Errorf("it ran %v, and after the restart %v", ran[:before], after)
		}
	})
}
