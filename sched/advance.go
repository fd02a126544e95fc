package sched

import "time"

// Advance moves the scheduler's time to t, which never goes back; later reads are as of t. Changes that are
// due at an instant before t count as of that instant, however late they are noticed.
func (s *Scheduler) Advance(t time.Time) {
	for next := s.nextChange(); !next.IsZero() && !next.After(t); next = s.nextChange() {
		s.moveTo(next)
		s.overrides.endBoosts()
		s.gates.endPauses()
		s.intake.ageNewJobs()
		s.gates.passWindows()
	}
	s.moveTo(t)
}

// moveTo moves the time to t, and lets the jobs in whose begin time has come.
func (s *Scheduler) moveTo(t time.Time) {
	if !t.After(s.site.at) {
		return
	}
	s.site.at, s.site.now = t, s.site.clock.At(t)
	s.site.setInstant()
	if s.site.now.Growth > 1<<20 || s.site.now.Tau > 1e8 {
		s.turns.reclock(s.site.clock.HalfLife())
		s.turns.rebuild()
	}
	s.turns.renew()
	s.turns.age()
	s.gates.openRates()
	s.departures.endHoldDowns()
	for {
		j, due := s.intake.later.due(t)
		if !due {
			return
		}
		s.intake.add(j)
	}
}

// nextChange is when something changes at an instant of its own; zero if nothing does.
func (s *Scheduler) nextChange() time.Time {
	return earlier(earlier(s.overrides.boosts.next(), s.intake.nextAged()), earlier(earlier(s.site.nextEdge(),
		s.departures.nextHoldDown()), s.overrides.pauses.next))
}

// openStep opens a step at t.
func (s *Scheduler) openStep(t time.Time, d *Decision) {
	s.Advance(t)
	d.reset()
	s.placement.steps++
}
