package sched

import "github.com/fairlead/fairlead/cluster"

// Licences are part of the plan, as what is there in common for all nodes: room that is kept
// for a task is of no use to it if a task behind it has its licence by then.

// licenseTotals is how much there is of each licence, by number.
func (s *Scheduler) licenseTotals() cluster.Vector {
	v := make(cluster.Vector, len(s.licenses))
	for i := range s.licenses {
		v[i] = s.licenses[i].total
	}
	return v
}

// holdsLicense reports whether tasks of a shape hold licences.
func (s *Scheduler) holdsLicense(shape cluster.Shape) bool {
	t := s.toll(shape)
	return t != nil && len(t.licenses) > 0
}

// planLicenses gives back the licences of one task in the plan, or takes them with the
// sign -1.
func (s *Scheduler) planLicenses(shape cluster.Shape, sign, from, to int64) {
	if s.holdsLicense(shape) {
		s.backfill.plan.AddCommon(s.licensesOf(shape, sign), from, to)
	}
}

// licensesFree reports whether the licences are free that a task of a shape, or a gang, asks
// for.
func (s *Scheduler) licensesFree(shape cluster.Shape) bool {
	t := s.toll(shape)
	return t == nil || s.lackingLicense(t, s.atOnce(shape)) == nil
}

// licensesOf are those of so many tasks of a shape, by number.
func (s *Scheduler) licensesOf(shape cluster.Shape, tasks int64) cluster.Vector {
	v := make(cluster.Vector, len(s.licenses))
	for _, need := range s.tolls[shape].licenses {
		v[need.license] = tasks * need.n
	}
	return v
}

// licensesFrom is the first instant from from on at which a task of a shape, or a gang, could
// hold its licences for length.
func (s *Scheduler) licensesFrom(shape cluster.Shape, length, from, before int64) (int64, bool) {
	if !s.holdsLicense(shape) {
		return from, true
	}
	return s.backfill.plan.EarliestCommon(s.licensesOf(shape, s.atOnce(shape)), length, from, before)
}

// licensesBehind reports whether a task of a shape, or a gang, can hold its licences from now
// on up to an instant.
func (s *Scheduler) licensesBehind(shape cluster.Shape, now, end int64) bool {
	at, found := s.licensesFrom(shape, end-now, now, now+1)
	return found && at == now
}
