package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestUnknownEnds: a forecast does not assume that a task ends by its limit if the task waits in another queue, or if
// it exceeded the limit on a node that is down.
func TestUnknownEnds(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 2, 1)
	add := func(id int64) {
		w.Add(sched.Job{ID: id, Pool: w.Pool("a"), Priority: 2, Tasks: 1, Key: w.Key(nil), Limit: time.Minute}, w.now)
	}
	add(1)
	add(2)
	starts := w.step(0)
	add(3)
	limits := func() (of [2]time.Duration) {
		future := w.Fork().AsFuture(&sched.Room{})
		future.Forecast(3, func(sched.Forecast) bool { return false }, func(t sched.Task) time.Time {
			if t.Job < 3 {
				of[t.Job-1] = t.Limit
			}
			return t.Started.Add(time.Hour)
		})
		return of
	}
	w.Queue(starts[0].Run, w.now)
	if got := limits(); got != [2]time.Duration{0, time.Minute} {
		t.Errorf("the first waits elsewhere: %v", got)
	}
	w.tick(2 * time.Minute)
	if got := limits(); got[1] != time.Minute {
		t.Errorf("the second is over its limit, and about to be ended: %v", got)
	}
	w.SetNode(starts[1].Node, cluster.Down, w.now)
	if got := limits(); got[1] != 0 {
		t.Errorf("the second is over its limit on a node that is down: %v", got)
	}
}
