package sched

import "time"

// Advance moves the scheduler's time to t; time never goes back, and later reads are as of t. Changes due at an
// instant before t take effect as of that instant, however late they are noticed.
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

// moveTo moves the time to t, and adds the jobs whose begin time has come.
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
	s.gates.passed()
	s.departures.endHoldDowns()
	for {
		j, due := s.intake.later.due(t)
		if !due {
			return
		}
		s.intake.add(j)
	}
}

// nextChange is the next instant at which time alone changes something; zero if there is none.
func (s *Scheduler) nextChange() time.Time {
	if !s.timed() {
		return time.Time{}
	}
	return earlier(earlier(s.overrides.next(), s.intake.nextAged()),
		earlier(s.site.nextEdge(), s.departures.nextHoldDown()))
}

// timed reports whether anything may end or begin at an instant: a boost, a pause, a hold-down, the time in which a
// job is new, or a window. Usually it returns false, and comparing the instants would cost more than choosing a pool.
func (s *Scheduler) timed() bool {
	return len(s.overrides.boosts.ends) > 0 || !s.overrides.pauses.next.IsZero() || len(s.departures.heldDown) > 0 ||
		len(s.intake.newJobs) > 0 || s.site.cluster.Windows().Any()
}

// openStep opens a step at t.
func (s *Scheduler) openStep(t time.Time, d *Decision) {
	s.Advance(t)
	d.reset()
	s.shown = shownFirst{}
	s.placement.steps++
	s.gates.wake()
}
