package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

func (w *world) running(pool string) int {
	w.t.Helper()
	id, ok := w.Lookup(pool)
	if !ok {
		w.t.Fatalf("no pool %s", pool)
	}
	return int(w.View(id).Tasks)
}

// TestMinimumComesFirst: a pool below its guaranteed minimum is served before others, whatever its weight, and above
// the minimum by its weight. The same holds for a pool with such a child.
func TestMinimumComesFirst(t *testing.T) {
	for _, policy := range []string{"fair", "fifo", "lottery"} {
		root := share.Pool{Policy: policy, Pools: []share.Pool{
			{Name: "big", Weight: 1000},
			{Name: "group", Weight: 1, Pools: []share.Pool{{Name: "small", Weight: 1, Min: map[string]int64{"cpu": 3}}, {Name: "other", Weight: 1000}}},
		}}
		w := newWorld(t, root, 8, 1)
		w.submit("big", 100)
		w.submit("group/other", 100)
		w.submit("group/small", 100)
		first := w.step(3)
		if got := w.running("group/small"); got != 3 {
			t.Errorf("%s: the pool below its minimum got %d of the first 3 slots: %v", policy, got, w.paths(first))
		}
		w.step(0)
		if got := w.running("group/small"); policy == "fair" && got != 3 {
			t.Errorf("%s: beyond its minimum it runs %d", policy, got)
		}
	}
}

// TestMaximumIsNotOvershot: a task that asks for more than the rest of a maximum does not start.
func TestMaximumIsNotOvershot(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1, Max: map[string]int64{"cpu": 5}}}}, 20, 1)
	wide := w.Key(cluster.Amounts{"cpu": 2})
	w.Add(sched.Job{ID: 1, Pool: w.Pool("a"), Key: wide, Priority: normal, Tasks: 5}, w.now)
	w.last = 1
	if n := len(w.step(0)); n != 2 {
		t.Errorf("%d tasks of two run under a maximum of five", n)
	}
	w.submit("a", 5)
	if n := len(w.step(0)); n != 1 {
		t.Errorf("%d narrow tasks fill the maximum, want 1", n)
	}
}

// TestPrioritiesDivideByWeight: if priorities are weights, they divide from the first task on: high has twice the
// weight of normal, low half of it.
func TestPrioritiesDivideByWeight(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 7, 1)
	w.weigh()
	count := map[int64]int{}
	for id, priority := range map[int64]int{1: normal - 1, 2: normal, 3: normal + 1} {
		w.Add(sched.Job{ID: id, Pool: w.Pool("a"), Key: w.Key(nil), Priority: priority, Tasks: 1000}, w.now)
	}
	for range 100 {
		starts := w.step(0)
		for _, s := range starts {
			count[s.Job]++
		}
		w.tick(10 * time.Second)
		for _, s := range starts {
			w.Finish(s.Run, w.now, true)
		}
	}
	for id, want := range map[int64]int{1: 400, 2: 200, 3: 100} {
		if d := count[id] - want; d < -7 || d > 7 {
			t.Errorf("job %d started %d of 700, want %d", id, count[id], want)
		}
	}
}
