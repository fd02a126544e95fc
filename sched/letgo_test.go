package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestBackfillChangesWhileNodesAreHeld: held nodes are released when a configuration with another backfill rule, or
// with an order by arrival, is applied. Answers about the future and further steps still work.
func TestBackfillChangesWhileNodesAreHeld(t *testing.T) {
	for _, to := range []struct {
		policy   string
		backfill sched.Backfill
	}{{"fair", sched.FirstFit}, {"fair", sched.FCFS}, {"fair", sched.Conservative}, {"fifo", sched.Conservative},
		{"fifo", sched.EASY}} {
		t.Run(to.policy+"+"+to.backfill.String(), func(t *testing.T) {
			w, wide := heldWorld(t)
			cfg := sched.Config{Root: share.Pool{Policy: to.policy}, NewPolicy: policy.New(policy.Options{}),
				Backfill: to.backfill}
			if err := w.Configure(cfg, w.now); err != nil {
				t.Fatal(err)
			}
			w.Fork().AsOutlook().Preview(func(sched.Start, float64) bool { return true })
			w.step(0)
			if k := w.Read().KeptFor(wide); k != nil && k.From.Sub(w.now) > time.Hour {
				t.Errorf("room is kept from %v on, and no task is expected to run for an hour", k.From)
			}
			w.tick(time.Second)
			if w.step(0); w.Check() != nil {
				t.Error(w.Check())
			}
		})
	}
}

// heldWorld is a world in which nodes are held for a wide job.
func heldWorld(t *testing.T) (*world, int64) {
	t.Helper()
	w := newWorldOf(t, sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}),
		Backfill: sched.EASY, Patience: time.Second})
	w.Join("n", cluster.Amounts{"cpu": 2}, w.now)
	add := func(pool string, cpus int64, tasks int) int64 {
		w.last++
		w.Add(sched.Job{ID: w.last, Pool: w.Pool(pool), Key: w.KeyOf(sched.Request{Amounts: cluster.Amounts{"cpu": cpus}}),
			Priority: normal, Tasks: tasks}, w.now)
		return w.last
	}
	add("narrow", 1, 10)
	runs := w.step(0)
	wide := add("wide", 2, 1)
	for range 20 {
		w.tick(2 * time.Second)
		w.Finish(runs[0].Run, w.now, true)
		if runs = append(runs[1:], w.step(0)...); len(runs) == 0 || len(runs) == 1 {
			add("narrow", 1, 1)
			w.step(0)
		}
		if k := w.Read().KeptFor(wide); k != nil && k.Held {
			return w, wide
		}
	}
	t.Fatalf("nothing is held: %+v", w.Read().KeptFor(wide))
	return w, wide
}
