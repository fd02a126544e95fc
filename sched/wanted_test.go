package sched_test

import (
	"testing"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestWantedOfNewPool: when the first pool is made whose policy uses the demand, jobs that wait already count, whether
// or not the pool is made for a new job.
func TestWantedOfNewPool(t *testing.T) {
	for _, policy := range []string{"load", "deficit"} {
		w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "b", Weight: 1, Policy: policy}}}, 1, 1)
		w.submit("a", 3)
		w.Pool("b/x")
		w.sound()
	}
}

// TestWantedBelowMaximum: work that the maximum of a pool holds back counts as demand only in the pools below it. That
// includes a pool that takes over the jobs of the pool, and holds whatever happens to the jobs and to the maximum.
func TestWantedBelowMaximum(t *testing.T) {
	for _, policy := range []string{"load", "deficit"} {
		w := newWorld(t, share.Pool{Policy: policy, Pools: []share.Pool{mapsOf("a", 1, 1)}}, 1, 1)
		w.Join("n", cluster.Amounts{"cpu": 9, "map": 9}, w.now)
		key := w.Key(cluster.Amounts{"cpu": 1, "map": 1})
		add := func(path string, tasks int) sched.Job {
			w.last++
			j := sched.Job{ID: w.last, Pool: w.Pool(path), Key: key, Priority: normal, Tasks: tasks}
			w.Add(j, w.now)
			return j
		}
		wants := func(when string, a, below float64) {
			t.Helper()
			w.sound()
			got := []float64{0, 0}
			for i, path := range []string{"a", "a/default"} {
				if id, ok := w.Lookup(path); ok {
					got[i] = w.View(id).Wanted
				}
			}
			if got[0] != a || got[1] != below {
				t.Errorf("%s, %s: the pools want %v, should %v and %v", policy, when, got, a, below)
			}
		}
		first := add("a", 5)
		wants("before the first step", 5, 0)
		started := w.step(0)
		wants("at the maximum", 0, 0)
		w.Pool("a/x")
		wants("with pools below", 0, 4)
		more := add("a", 3)
		wants("with another job", 0, 7)
		taken := w.Take(first, 0, w.now, w.now)
		wants("when one of its tasks was started elsewhere", 0, 6)
		copied := w.Fork()
		w.Withdraw(more, w.now)
		wants("when the other job was withdrawn", 0, 3)
		w.Finish(started[0].Run, w.now, true)
		w.step(0)
		wants("with one task above the maximum less", 0, 3)
		w.Finish(taken, w.now, true)
		wants("below the maximum", 3, 3)
		w.step(0)
		wants("at the maximum again", 0, 2)
		w.reload(share.Pool{Policy: policy, Pools: []share.Pool{mapsOf("a", 1, 2)}})
		wants("under a larger maximum", 2, 2)
		w.step(0)
		wants("at that", 0, 1)
		w.reload(share.Pool{Policy: policy, Pools: []share.Pool{mapsOf("a", 1, 0)}})
		wants("without a maximum", 1, 1)
		w.Scheduler = copied
		wants("in a copy", 0, 6)
	}
}
