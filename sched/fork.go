package sched

import (
	"maps"
	"slices"
)

// Fork returns an independent copy. What-if questions run on a fork, so the code that decides also answers them.
// The scheduler and its fork share the waiting jobs until one of them changes these, so a fork costs a copy of the
// pools, not of the jobs. Two goroutines may use the scheduler and its fork at the same time only if the fork does
// nothing but step and finish. A fork stops no tasks for starving pools until it is configured; until then it only
// answers which tasks start.
func (s *Scheduler) Fork() *Scheduler { return s.ForkIn(&Room{}) }

// ForkIn is Fork with the memory of an earlier copy, which must not be used any more.
func (s *Scheduler) ForkIn(room *Room) *Scheduler {
	f := s.forkNow(room)
	f.reserve.backfill = s.reserve.backfill.fork(f.site.cluster)
	return f
}

// forkNow is ForkIn without the plan.
func (s *Scheduler) forkNow(room *Room) *Scheduler {
	f := s.forkPools(room)
	for i := range f.queues.all {
		f.queues.all[i].fork(room)
	}
	return f
}

// forkToList is forkNow for a copy that only starts tasks, and is dropped before the next one is made. The copy shares
// queues without waiting tasks with the scheduler.
func (s *Scheduler) forkToList(room *Room) *Scheduler {
	f := s.forkPools(room)
	for i := range f.queues.all {
		if q := &f.queues.all[i]; !q.idle() {
			q.fork(room)
		}
	}
	return f
}

// forkPools is forkNow without the sub-queues of the queues.
func (s *Scheduler) forkPools(room *Room) *Scheduler {
	room.empty()
	s.site.epoch += 2
	f := *s
	wire(&f)
	f.site.epoch--
	f.shown = shownFirst{}
	f.site.cluster = s.site.cluster.Clone()
	s.tree.lendNames(&f)
	f.tree.pools = copyIn(&room.pools, s.tree.pools)
	f.tree.days = slices.Clone(s.tree.days)
	for i, d := range f.tree.days {
		f.tree.days[i] = d.Clone()
	}
	f.orders.places, f.orders.claims = copyAllIn(&room.places, s.orders.places), cloneAll(s.orders.claims)
	f.orders.dominants.drifts = cloneAll(s.orders.dominants.drifts)
	f.orders.dominants.ready = cloneAll(s.orders.dominants.ready)
	f.tariff.prices.of = slices.Clone(s.tariff.prices.of)
	f.orders.dominants.of, f.orders.dominants.resources = slices.Clone(s.orders.dominants.of), slices.Clip(s.orders.dominants.resources)
	f.queues.begunOf = maps.Clone(s.queues.begunOf)
	f.queues.begun, f.running.runs = slices.Clone(s.queues.begun), copyIn(&room.runs, s.running.runs)
	f.running.keys, f.running.endless = s.running.keys.clone(), s.running.endless.clone()
	f.running.late = s.running.late.clone()
	f.running.runFree, f.queues.begunFree = slices.Clone(s.running.runFree), slices.Clone(s.queues.begunFree)
	f.departures.stops.fork()
	f.tree.queued = maps.Clone(s.tree.queued)
	f.departures.heldDown = maps.Clone(s.departures.heldDown)
	f.reserve.predictor = s.reserve.predictor.fork()
	f.reserve.backfill, f.reserve.hosts, f.reserve.single = backfilling{}, nil, nil
	f.reclaimer.fork()
	f.queues.readyKeys, f.gates.noRoom = s.queues.readyKeys.clone(), s.gates.noRoom.clone()
	f.intake.later = later{heap: slices.Clone(s.intake.later.heap), jobs: maps.Clone(s.intake.later.jobs),
		serial: s.intake.later.serial}
	f.overrides.boosts.fork()
	f.overrides.pauses.fork()
	f.intake.newJobs = slices.Clone(s.intake.newJobs)
	f.quotas.forkQuotas()
	kinds := make([]gateKind, len(s.gates.kinds))
	for i, k := range s.gates.kinds {
		kinds[i] = k.fork(&f.gates)
	}
	f.gates.setKinds(kinds...)
	f.tree.inners = copyIn(&room.inners, s.tree.inners)
	for i := range f.tree.inners {
		f.tree.inners[i].fork(room)
	}
	f.tree.limited = slices.Clone(s.tree.limited)
	for i := range f.tree.limited {
		l := &f.tree.limited[i]
		l.used, l.wants, l.parked = slices.Clone(l.used), slices.Clone(l.wants), slices.Clone(l.parked)
	}
	f.precedence.classOf, f.precedence.factors = maps.Clone(s.precedence.classOf), slices.Clip(s.precedence.factors)
	if s.precedence.ranks != nil {
		f.precedence.ranks = s.precedence.ranks.fork()
	}
	f.queues.all = copyIn(&room.queues, s.queues.all)
	return &f
}

// cloneAll copies slices.
func cloneAll[T any](all [][]T) [][]T {
	out := slices.Clone(all)
	for i := range out {
		out[i] = slices.Clone(out[i])
	}
	return out
}

func (c *quotas) forkQuotas() {
	c.needs, c.licenses, c.rates = slices.Clone(c.needs), slices.Clone(c.licenses), slices.Clone(c.rates)
	c.licenseOf, c.rateOf = maps.Clone(c.licenseOf), maps.Clone(c.rateOf)
	c.users, c.userOf = slices.Clone(c.users), maps.Clone(c.userOf)
	for i := range c.users {
		c.users[i].parked = slices.Clone(c.users[i].parked)
	}
	for i := range c.licenses {
		c.licenses[i].parked = slices.Clone(c.licenses[i].parked)
	}
	for i := range c.rates {
		c.rates[i].parked = slices.Clone(c.rates[i].parked)
	}
}

func (in *inner) fork(room *Room) {
	in.deficits, in.held = in.deficits.fork(room), in.held.fork()
	in.kids = slices.Clip(in.kids) // it only grows
	in.keys.fork(room)
	in.arrivals.entries = copied(&room.ranks, in.arrivals.entries)
	in.rising.entries, in.full.entries = copied(&room.ranks, in.rising.entries), copied(&room.ranks, in.full.entries)
	in.weights.sum = slices.Clone(in.weights.sum)
	in.belowMin = slices.Clone(in.belowMin)
	if in.allotting != nil {
		a := *in.allotting
		a.plan = plan{}
		in.allotting = &a
	}
}

// lendNames shares the names and settings of the pools with a copy: they rarely change, and would be a third of the
// copy. Each side copies them before it changes them, see ownNames.
func (t *tree) lendNames(f *Scheduler) {
	t.lent, f.tree.lent = true, true
	f.tree.labels, f.tree.index = slices.Clip(t.labels), t.index
}
