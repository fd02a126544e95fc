package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestHeldNodesOutlastLateTasks: nodes are held for a wide job that has waited too long. Tasks there run for longer
// than predicted, and one of them started in the step that began the hold. Room is planned for the wide job at their
// end, and not a year later. A task with a long limit that is submitted then, in a pool that goes first, does not start
// there.
func TestHeldNodesOutlastLateTasks(t *testing.T) {
	for _, rule := range []sched.Backfill{sched.EASY, sched.Conservative} {
		for _, name := range []string{"fifo", "fair", "fairtree", "drf", "load"} {
			for _, patience := range []time.Duration{0, time.Second} {
				t.Run(name+"+"+rule.String()+"+"+patience.String(), func(t *testing.T) {
					lateBesideHeld(t, sched.Config{Root: share.Pool{Policy: name}, NewPolicy: policy.New(policy.Options{}),
						Backfill: rule, Patience: patience})
				})
			}
		}
	}
}

func lateBesideHeld(t *testing.T, cfg sched.Config) {
	w := newWorldOf(t, cfg)
	w.Join("n", cluster.Amounts{"cpu": 3}, w.now)
	ends := map[sched.RunID]time.Time{}
	lasts := map[int64]time.Duration{}
	started := map[int64]time.Time{}
	add := func(pool string, cpus int64, priority int, limit, lasting time.Duration) int64 {
		w.last++
		w.Add(sched.Job{ID: w.last, Pool: w.Pool(pool), Key: w.KeyOf(sched.Request{Amounts: cluster.Amounts{"cpu": cpus}}),
			Priority: priority, Tasks: 1, Limit: limit}, w.now)
		lasts[w.last] = lasting
		return w.last
	}
	step := func() {
		for _, s := range w.step(0) {
			ends[s.Run], started[s.Job] = w.now.Add(lasts[s.Job]), w.now
		}
	}
	run := func(d time.Duration) {
		step()
		for until := w.now.Add(d); w.now.Before(until); {
			w.tick(100 * time.Millisecond)
			for r, at := range ends {
				if !at.After(w.now) {
					w.Finish(r, w.now, true)
					delete(ends, r)
				}
			}
			step()
		}
	}
	add("ann", 2, normal, 0, time.Second)
	add("ann", 2, normal, 0, time.Second)
	run(3 * time.Second)
	add("ann", 1, normal, 0, 6*time.Second)
	add("ann", 1, normal, 0, 18*time.Second)
	step()
	wide := add("ann", 3, normal, 0, 3*time.Second)
	add("ann", 1, normal, 0, 3*time.Second)
	run(500 * time.Millisecond)
	add("ann", 2, normal-1, 0, 30*time.Second)
	run(12 * time.Second)
	if k := w.Read().KeptFor(wide); k == nil || !k.Held || k.From.Sub(w.now) > time.Hour {
		t.Fatalf("the wide job has the room %+v", k)
	}
	long := add("bob", 1, normal, 10*time.Hour, time.Minute)
	run(time.Minute)
	if at, starts := started[wide]; !starts || started[long].Before(at) {
		t.Errorf("the wide job starts at %v, the job of 10 hours at %v; the room: %+v", at, started[long],
			w.Read().KeptFor(wide))
	}
}
