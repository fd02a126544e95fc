package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Boost applies a boost. A boost that is already over changes nothing.
func (s *Scheduler) Boost(b Boost, t time.Time) {
	s.Advance(t)
	if b.over(s.site.at) {
		return
	}
	if id, there := s.tree.Lookup(b.Pool); there {
		s.overrides.enter(b, int32(id))
		s.overrides.reweigh(int32(id))
		return
	}
	slot := s.overrides.enter(b, -1)
	if s.overrides.boosts.absent == nil {
		s.overrides.boosts.absent = map[string][]int32{}
	}
	s.overrides.boosts.absent[b.Pool] = append(s.overrides.boosts.absent[b.Pool], slot)
}

// Unboost ends a boost early, and reports whether it was active.
func (s *Scheduler) Unboost(id int64, t time.Time) bool {
	s.Advance(t)
	for slot := range s.overrides.boosts.slots {
		if b := &s.overrides.boosts.slots[slot]; b.ID == id && id != 0 {
			pool := b.pool
			s.overrides.drop(int32(slot))
			if pool >= 0 {
				s.overrides.reweigh(pool)
			}
			return true
		}
	}
	return false
}

// Pause applies a pause; it replaces a pause of the same pool. A pause that is already over ends the present pause,
// and itself.
func (s *Scheduler) Pause(p Pause, t time.Time) {
	s.Advance(t)
	if p.over(s.site.at) {
		s.gates.resume(p.Pool)
		s.overrides.pauses.ended = append(s.overrides.pauses.ended, p)
		return
	}
	if s.overrides.pauses.all == nil {
		s.overrides.pauses.all, s.overrides.pauses.of = map[string]Pause{}, map[int32]string{}
	}
	_, before := s.overrides.pauses.all[p.Pool]
	s.overrides.pauses.all[p.Pool] = p
	s.overrides.pauses.retime()
	if id, there := s.tree.Lookup(p.Pool); there && !before {
		s.overrides.pauses.of[int32(id)] = p.Pool
		s.gates.repause(int32(id))
	}
}

// Resume ends a pause early, and reports whether it was active.
func (s *Scheduler) Resume(pool string, t time.Time) bool {
	s.Advance(t)
	return s.gates.resume(pool)
}

// EndedBoosts returns the boosts that ended since the last call.
func (s *Scheduler) EndedBoosts() []Boost { return s.overrides.EndedBoosts() }

// EndedPauses returns the pauses that ended by themselves since the last call.
func (s *Scheduler) EndedPauses() []Pause { return s.overrides.EndedPauses() }

// SetWindows replaces the windows. Their instants are in nanoseconds, as of [time.Time.UnixNano].
func (s *Scheduler) SetWindows(all []cluster.Window, t time.Time) {
	s.Advance(t)
	s.site.cluster.SetWindows(all, s.site.instantOf())
	s.reserve.backfill.plan = nil
	s.gates.windowsChanged()
}
