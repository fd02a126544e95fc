package engine_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

func close2(a, b float64) bool { return math.Abs(a-b) < 0.005 }

// pools returns the pools by their paths.
func pools(t *testing.T, l *engine.Loop) (views.FairnessView, map[string]views.PoolView) {
	t.Helper()
	v, list := views.Fairness(t.Context(), l)
	m := map[string]views.PoolView{}
	for _, p := range list {
		m[p.Path] = p
	}
	return v, m
}

// TestFairnessForgetsNothing: the account goes on when the configuration changes, and jobs that waited for something
// other than room are never late.
func TestFairnessForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 1, func(context.Context, *fairlead.Lease) error {
			time.Sleep(10 * time.Second)
			return nil
		})
		defer stop()
		first := enginetest.Submit(t, loop, fairlead.Job{User: "ann"}, fairlead.Job{User: "bob"})
		enginetest.Submit(t, loop,
			fairlead.Job{User: "eve", After: []fairlead.Dependency{{Job: first[1], On: queue.OnAny}}})
		time.Sleep(15 * time.Second)
		shares := fairlead.DefaultShares()
		shares.Sched.Root.Pools = []share.Pool{{Name: "ann", Weight: 3}}
		if err := loop.Configure(t.Context(), shares); err != nil {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Second)
		_, p := pools(t, loop)
		// From 0 to 10 s each is due half; then bob alone, and after him eve.
		if a, b := p["ann"].Fairness, p["bob"].Fairness; !close2(a.Lag, -5) || !close2(b.Lag, 5) {
			t.Errorf("ann %+v, bob %+v", a, b)
		}
		if e := p["eve"].Fairness; e.LateTasks != 1 || e.LateSeconds != 0 || e.Lag != 0 {
			t.Errorf("eve %+v", e)
		}
	})
}

// TestFairnessOverRebuild: when the core is made anew, pools keep what they are owed.
func TestFairnessOverRebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 1, func(context.Context, *fairlead.Lease) error {
			time.Sleep(10 * time.Second)
			return nil
		})
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{User: "zoe", Kind: "nobody's"}, fairlead.Job{User: "ann", Array: "1-2"},
			fairlead.Job{User: "bob"})
		time.Sleep(5 * time.Second)
		if err := loop.Client().Cancel(t.Context(), 1); err != nil { // its pool is not made again
			t.Fatal(err)
		}
		pools(t, loop)
		if err := loop.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		_, p := pools(t, loop)
		if a, b := p["ann"].Fairness, p["bob"].Fairness; !close2(a.Lag, -3) || !close2(b.Lag, 3) || p["bob"].OldestWait != 6 {
			t.Errorf("ann %+v, bob %+v", a, p["bob"])
		}
	})
}
