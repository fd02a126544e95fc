package sched

import "time"

// renewal knows when a [Renewer] wants the keys of its children computed anew. A pool
// that has one is asked again only then, so that an event costs one comparison.
type renewal struct{ at time.Time } // the earliest of all pools; zero if there is none

// add takes the next instant of a pool's policy into account.
func (r *renewal) add(in *inner, now time.Time) {
	if in.renewer == nil {
		return
	}
	if next := in.renewer.Renew(now); r.at.IsZero() || !next.IsZero() && next.Before(r.at) {
		r.at = next
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
		s.renewal.add(&s.inners[i], s.at)
	}
	s.rebuild()
}

// nextInstant is when time alone could change what starts: a job may begin, a rate lets
// one start or, while jobs wait, their order changes.
func (s *Scheduler) nextInstant() time.Time {
	next := earlier(earlier(s.later.next(), s.nextChange()), s.nextToken())
	if at := s.renewal.at; !at.IsZero() && s.pools[Root].Waiting > 0 && (next.IsZero() || at.Before(next)) {
		return at
	}
	return next
}
