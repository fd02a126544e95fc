package sched_test

import (
	"math"
	"testing"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// expects fails unless the running tasks of a pool are expected to receive "want".
func (w *world) expects(pool string, want float64) {
	w.t.Helper()
	id, known := w.Lookup(pool)
	if !known {
		w.t.Fatalf("there is no pool %s", pool)
	}
	if got := w.View(id).Flight; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		w.t.Errorf("the tasks of %q are expected to receive %v, want %v", pool, got, want)
	}
}

// TestExpectedOfQueued: tasks in a queue of their node are expected to receive as much as running tasks, even if the
// mean length changes meanwhile. So the scheduler subtracts for each task the amount that it added, and tasks that are
// canceled there leave nothing behind.
func TestExpectedOfQueued(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 403, 1)
	w.submit("science", 402)
	w.submit("art", 1)
	var queued []sched.Start
	var run []sched.Start
	for _, s := range w.step(0) {
		if w.Path(s.Pool) == "science" && len(queued) < 400 {
			queued = append(queued, s)
		} else if w.Path(s.Pool) == "science" {
			run = append(run, s)
		}
	}
	w.expects("science", 402*60)
	w.tick(time.Second)
	for _, s := range queued {
		w.Queue(s.Run, w.now)
	}
	w.expects("science", 402*60)
	w.tick(999 * time.Second)
	w.Finish(run[0].Run, w.now, true)
	w.expects("science", 401*1000)
	w.expects("", 401*1000+60)
	for _, s := range queued {
		w.Finish(s.Run, w.now, false)
	}
	w.expects("science", 1000)
	w.expects("", 1060)
	w.submit("science", 400)
	w.submit("art", 400)
	started := map[string]int{}
	for _, path := range w.paths(w.step(100)) {
		started[path]++
	}
	if started["art"] < 90 {
		t.Errorf("art, of which one task runs, starts %d of 100 tasks beside those of science, which had 2,000 slot-seconds before", started["art"])
	}
	w.sound()
}

// TestExpectedAfterRestore: a mean length that the scheduler receives while tasks run counts for them.
func TestExpectedAfterRestore(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 4, 1)
	w.submit("a", 3)
	starts := w.step(0)
	w.Queue(starts[0].Run, w.now)
	w.Memory().Restore(w.Pool("a"), 500, 100, 5)
	w.expects("a", 300)
	for i, s := range starts {
		w.Finish(s.Run, w.now, false)
		w.expects("a", float64(2-i)*100)
	}
	w.sound()
}

// sound fails if a sum that events update differs from a recount.
func (w *world) sound() {
	w.t.Helper()
	for _, d := range w.Read().Recount() {
		w.t.Error(d)
	}
}
