package sched

import "time"

// Step decides at t which tasks start now, as long as there is room, and counts them as running. It starts at most
// "limit" tasks, or all possible ones if the limit is 0.
func (s *Scheduler) Step(t time.Time, limit int, d *Decision) {
	s.openStep(t, d)
	if len(s.tree.rebalancers) > 0 && !s.departures.stops.left {
		s.rebalance(d)
	}
	s.startSome(limit, d)
	s.reclaim(d)
	d.Next = s.nextInstant()
}

// nextInstant is the next instant at which time alone could change a decision. At this instant a job may begin, or
// a rate may allow a start. While jobs wait, their order may change, or a pool may have starved long enough.
func (s *Scheduler) nextInstant() time.Time {
	next := earlier(s.intake.later.next(), earlier(s.gates.next(), s.rebalancer.next))
	waits := s.tree.pools[Root].Waiting > 0
	switch {
	case !s.timed():
	case waits:
		next = earlier(next, s.nextChange())
	default:
		next = earlier(next, earlier(s.overrides.next(), s.intake.nextAged()))
	}
	if waits {
		next = earlier(next, earlier(s.tree.renewal.at, s.reclaimer.nextLook()))
	}
	if late := s.gates.nextLate(); late.After(s.site.at) { // otherwise no job has room, and only an event changes that
		next = earlier(next, late)
	}
	return earlier(next, s.reserve.nextKept())
}
