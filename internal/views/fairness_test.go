package views_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
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

// TestFairnessLive is the worked example of docs/explanation/fairness-measures.md: four
// slots, ann and bob with equal shares, tasks of 10 s. ann comes at 0, bob at 5 s.
func TestFairnessLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shares := fairlead.DefaultShares()
		shares.Sched.Root.Pools = []share.Pool{{Name: "ann", Weight: 1}, {Name: "bob", Weight: 1}}
		loop, stop := enginetest.Start(t, engine.LoopOptions{Shares: shares}, 4,
			func(context.Context, *fairlead.Lease) error {
				time.Sleep(10 * time.Second)
				return nil
			})
		defer stop()
		zero := time.Now()
		until := func(seconds float64) {
			time.Sleep(time.Until(zero.Add(time.Duration(seconds * 1e9))))
			synctest.Wait()
		}
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "1-8"})
		until(2)
		v, _ := pools(t, loop)
		if want := []views.Borrowed{{Pool: "ann", From: "bob", Units: 2}}; !slices.Equal(v.Borrowed, want) ||
			v.Day.Worst != "" {
			t.Errorf("at 2 s: %+v", v)
		}
		until(5)
		enginetest.Submit(t, loop, fairlead.Job{User: "bob", Array: "1-8"})
		for _, want := range []struct {
			at                 float64
			ann, bob           float64 // lag in slot-seconds
			annRuns, bobRuns   float64
			jain, served, wait float64
		}{
			// From 5 to 10 s, each is due 2 of 4 slots, and ann's tasks still have all four.
			{7.5, -5, 5, 4, 0, 0.5, 0, 2.5},
			// From 10 to 20 s, bob has three slots where two are due, until the lag is 0.
			{15, -5, 5, 1, 3, 0.96, 0.75, 10},
			{25, 0, 0, 2, 2, 1, 1, 20},
		} {
			until(want.at)
			v, p := pools(t, loop)
			ann, bob := p["ann"], p["bob"]
			if !close2(ann.Fairness.Lag, want.ann) || !close2(bob.Fairness.Lag, want.bob) ||
				ann.Running != want.annRuns || bob.Running != want.bobRuns {
				t.Errorf("at %v s: ann runs %v, lag %v; bob runs %v, lag %v", want.at, ann.Running, ann.Fairness.Lag,
					bob.Running, bob.Fairness.Lag)
			}
			if !close2(v.Day.Jain, want.jain) || !close2(v.Day.WorstServed, want.served) ||
				!close2(v.Day.Served, (1+want.served)/2) || !close2(bob.Fairness.Day.Served, want.served) ||
				v.Idle != 0 {
				t.Errorf("at %v s: %+v", want.at, v)
			}
			if ann.FairNow != 2 || bob.FairNow != 2 || len(v.Borrowed) > 0 || !close2(bob.OldestWait, want.wait) {
				t.Errorf("at %v s: due %v and %v, borrowed %v, bob waits %v", want.at, ann.FairNow, bob.FairNow,
					v.Borrowed, bob.OldestWait)
			}
		}
		// bob's first three tasks ended at 20 s. On two slots of his own, from 5 s on, they
		// would have ended at 15, 15 and 20 s.
		_, p := pools(t, loop)
		if f := p["bob"].Fairness; f.LateTasks != 3 || !close2(f.LateSeconds, 10) || !close2(f.LateLargest, 5) ||
			!close2(f.Largest, 10) {
			t.Errorf("bob: %+v", f)
		}
		if f := p["ann"].Fairness; f.LateTasks != 5 || f.LateSeconds != 0 {
			t.Errorf("ann: %+v", f)
		}
	})
}

// TestFairnessAddsUp: over random work the lags of the leaves and of all pools within a pool add up to the lag of that
// pool, and nothing is idle while something fits.
func TestFairnessAddsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := enginetest.Start(t, engine.LoopOptions{}, 5, func(_ context.Context, l *fairlead.Lease) error {
			time.Sleep(time.Duration(l.JobID%7+1) * 700 * time.Millisecond)
			return nil
		})
		defer stop()
		for i := range 60 {
			enginetest.Submit(t, loop, fairlead.Job{User: "u", Pool: fmt.Sprintf("p%d/q%d", i%3, i%5%2),
				Array: []string{"", "1-4", "1-9%2"}[i%3]})
			time.Sleep(time.Duration(i%4) * 800 * time.Millisecond)
		}
		v, all := views.Fairness(t.Context(), loop)
		sums := map[string]float64{}
		for _, p := range all {
			above, _ := share.Cut(p.Path)
			if p.Path != "" {
				sums[above] += p.Fairness.Lag
			}
		}
		for _, p := range all {
			if sum, inner := sums[p.Path]; inner && math.Abs(sum-p.Fairness.Lag) > 1e-6 {
				t.Errorf("%q has the lag %v, and those in it %v", p.Path, p.Fairness.Lag, sum)
			}
		}
		if root := all[0].Fairness; v.Idle != 0 || math.Abs(root.Lag) > 1e-6 || root.Day.Received < 100 {
			t.Errorf("%+v, root %+v", v, root)
		}
	})
}
