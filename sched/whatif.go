package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Fork returns a copy of the scheduler as the future begins, to be changed before
// [Scheduler.Future] is asked of it.
func (u *Future) Fork() *Scheduler {
	f := u.s.Fork()
	f.rebalancers = nil
	return f
}

// Rest starts what starts now, all of it.
func (s *Scheduler) Rest() {
	for d := (Decision{More: true}); d.More; {
		s.Step(s.at, 0, &d)
	}
}

// Opening reports whether a node has room for a task now that keeps its time limit, behind
// the room that the last step kept for others.
func (s *Scheduler) Opening(shape cluster.Shape, limit time.Duration) bool {
	if s.backfill.plan == nil {
		_, fits := s.find(shape, limit)
		return fits
	}
	_, fits := s.placeBehind(shape, limit)
	return fits
}

// Window is the longest time limit in whole seconds, shorter than one that is too long, with
// which a task would find room now; 0 if there is none.
func (s *Scheduler) Window(shape cluster.Shape, tooLong time.Duration) time.Duration {
	if (!s.backfills() || s.backfill.plan == nil) && !s.cluster.Windowed() {
		return 0
	}
	long := int64(planned(tooLong)) / int64(time.Second)
	fits, not := int64(0), long // with fits there is room, if it is above 0; with not there is none
	for not-fits > 1 {
		if mid := (fits + not) / 2; s.Opening(shape, time.Duration(mid)*time.Second) {
			fits = mid
		} else {
			not = mid
		}
	}
	return time.Duration(fits) * time.Second
}
