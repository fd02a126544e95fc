package sched

import "time"

// renewal knows when a [Renewer] wants the keys of its children computed anew. A pool
// that has one is asked again only then, so that an event costs one comparison.
type renewal struct{ at time.Time } // the earliest of all pools; zero if there is none

// renewalOf takes the next instant of a pool's policy into account.
func (s *Scheduler) renewalOf(in *inner) {
	var next time.Time
	switch {
	case in.renewer != nil:
		next = in.renewer.Renew(s.at)
	case in.ranker != nil:
		every := s.cfg.Multifactor.Recalculate
		next = s.at.Truncate(every).Add(every)
	}
	if at := s.renewal.at; !next.IsZero() && (at.IsZero() || next.Before(at)) {
		s.renewal.at = next
	}
}

// renew computes all orders anew when an instant has come. Which pools it was that
// wanted it does not matter: orders are the same when they are built twice.
func (s *Scheduler) renew() {
	if s.renewal.at.IsZero() || s.at.Before(s.renewal.at) {
		return
	}
	s.renewal = renewal{}
	s.rollDays()
	for i := range s.inners {
		s.renewalOf(&s.inners[i])
	}
	s.Renew()
}

// Renew computes anew what otherwise is when its time comes, such as the usage by which
// a priority is computed: for those who gave the pools their usage at this instant.
func (s *Scheduler) Renew() {
	s.valueAll()
	s.rebuild()
}

// nextInstant is when time alone could change what is decided: a job may begin, a rate
// lets one start or, while jobs wait, their order changes, or a pool has starved for long
// enough.
func (s *Scheduler) nextInstant() time.Time {
	next := earlier(earlier(earlier(s.later.next(), s.pauses.next), earlier(s.boosts.next(), s.nextRipe())), earlier(s.nextToken(), s.nextRebalance))
	if s.pools[Root].Waiting > 0 {
		next = earlier(next, s.nextLinger())
		next = earlier(next, earlier(s.nextEdge(), earlier(s.renewal.at, s.nextLook())))
	}
	if s.cfg.Placement == Conservative {
		next = earlier(next, s.nextKept())
	}
	return next
}
