package sched

import (
	"maps"
	"slices"
)

// lendNames lets a copy read what the pools are called and how they are configured: that changes
// seldom, and is a third of what a copy would take. Whoever changes it first takes a copy, see
// ownNames.
func (s *Scheduler) lendNames(f *Scheduler) {
	s.lent, f.lent = true, true
	f.labels, f.index = slices.Clip(s.labels), s.index
}

// ownNames makes labels and index safe to change: others may read them.
func (s *Scheduler) ownNames() {
	if s.lent {
		s.labels, s.index, s.lent = slices.Clone(s.labels), maps.Clone(s.index), false
	}
}
