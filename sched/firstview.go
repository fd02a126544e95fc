package sched

import "slices"

// A step of [EASY] plans nothing while no waiting job has room, because no job could then pass the first one. Readers
// still want to know when the first job starts. So a copy of the scheduler plans that start for them, in the same way
// as the next step with room will.

// withFirst returns a view in which the first job without room has a planned start.
func (v View) withFirst() View {
	b := &v.s.reserve.backfill
	if v.s.site.plans != plansFirst || b.uniform || b.plan == nil || len(b.firsts) > 0 || !allWaitForRoom(v.s) {
		return v
	}
	if at := (moment{v.s.site.events, v.s.site.instantOf()}); v.s.shown.in == nil || v.s.shown.at != at {
		v.s.shown = shownFirst{at, v.s.Fork()}
		planFirst(v.s.shown.in)
	}
	return View{v.s.shown.in}
}

// allWaitForRoom reports whether some job waits, none has room, and the policies choose the first one without chance.
// It is false if all running tasks, and all waiting jobs that an empty node could run, have the same request. Then no
// job can pass another, and nothing is planned.
func allWaitForRoom(s *Scheduler) bool {
	h := &s.gates
	if len(h.noRoom.active)+len(s.queues.readyKeys.active) == 0 || len(h.noRoom.fitting(s.site.cluster)) > 0 ||
		s.queues.somethingFits() {
		return false
	}
	byChance := func(in inner) bool { return in.as.weigher != nil }
	return !h.alike(s.site.cluster.Empty().Could) && !slices.ContainsFunc(s.tree.inners, byChance)
}

// planFirst plans the start of the first job without room, and of the first one of each window. It drops the turns that
// begin with this planning, because in the scheduler a turn begins when a step plans.
func planFirst(s *Scheduler) {
	const most = 256 // draws: licenses and maxima may hold back the jobs drawn first
	b, turns := &s.reserve.backfill, slices.Clone(s.reserve.backfill.patience.of)
	s.departures.updatePlan()
	b.events, b.behind = s.site.events, 0
	s.reserve.overrun(s.site.instantOf())
	s.departures.planAnew()
	s.gates.tryAgain(s.gates.noRoom.all())
	var d Decision
	for range most {
		if len(b.firsts) > 0 && !s.site.cluster.Windows().Any() || s.tree.inners[s.tree.pools[Root].inner].open == 0 ||
			s.tree.rootFull() || !s.placement.draw(1, 1, &d) {
			break
		}
	}
	b.patience.of = turns
}
