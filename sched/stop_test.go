package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestRoomOfTogetherIsGivenBackAtOnce: a wide task waits for the room of two narrow ones. Waiting narrow tasks do not
// take the room that the first of them leaves.
func TestRoomOfTogetherIsGivenBackAtOnce(t *testing.T) {
	root := share.Pool{Policy: "fair", Pools: []share.Pool{
		{Name: "a", Weight: 1}, {Name: "b", Weight: 1, Min: map[string]int64{"cpu": 2}},
	}}
	w := newWorld(t, root, 2, 1)
	w.submit("a", 10)
	first := w.step(0)
	w.last++
	w.Add(sched.Job{ID: w.last, Pool: w.Pool("b"), Key: w.Key(cluster.Amounts{"cpu": 2}), Priority: normal, Tasks: 1}, w.now)
	w.tick(time.Minute)
	w.Advance(w.now)
	var d sched.Decision
	w.StopTogether([]sched.RunID{first[0].Run, first[1].Run}, sched.StopMin, &d)
	if len(d.Stops) != 2 || d.Stops[0].Lost != 60 || d.Stops[0].Job != 1 {
		t.Fatalf("stops %+v", d.Stops)
	}
	if w.Stoppable(first[0].Run) {
		t.Error("a task that was told to end can be stopped")
	}
	fork := w.Fork() // the fork has groups of its own
	w.Finish(first[0].Run, w.now, false)
	if got := w.step(0); len(got) != 0 {
		t.Fatalf("%v started in half of the room", w.paths(got))
	}
	w.Finish(first[1].Run, w.now, false)
	if got := w.paths(w.step(0)); len(got) != 1 || got[0] != "b" {
		t.Fatalf("in the room started %v", got)
	}
	fork.Finish(first[1].Run, w.now, false)
	fork.Finish(first[0].Run, w.now, false)
	if fork.Step(w.now, 0, &d); len(d.Starts) != 1 {
		t.Fatalf("in the fork %d started", len(d.Starts))
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

// TestSparedRunsOn: one of two tasks that were stopped together ends, and the other is spared; the room of the first is
// free then.
func TestSparedRunsOn(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 2, 1)
	w.submit("a", 3)
	first := w.step(0)
	w.tick(time.Second)
	var d sched.Decision
	w.StopTogether([]sched.RunID{first[0].Run, first[1].Run}, sched.StopShare, &d)
	w.Finish(first[0].Run, w.now, false)
	if got := w.step(0); len(got) != 0 {
		t.Fatalf("%d started", len(got))
	}
	w.Spare(first[1].Run)
	if got := w.step(0); len(got) != 1 {
		t.Fatalf("%d started", len(got))
	}
	w.Finish(first[1].Run, w.now, true)
}
