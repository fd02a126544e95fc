package sched

import (
	"maps"
	"slices"
)

// Fork returns a copy that goes its own way from here: what-if questions are put to
// a fork, so that they are answered by the same code that decides. The waiting jobs
// themselves are shared until one side changes them, so that a fork costs a copy of
// the pools, not of the jobs. The two are not safe for use by two goroutines at the
// same time unless the fork only steps and finishes. A fork stops nothing for pools that
// starve until it is configured: it answers what starts.
func (s *Scheduler) Fork() *Scheduler {
	f := s.forkNow()
	f.backfill = s.backfill.fork(f.cluster)
	return f
}

// forkNow is Fork but for what is planned.
func (s *Scheduler) forkNow() *Scheduler {
	s.epoch += 2
	f := *s
	f.epoch--
	f.cluster = s.cluster.Clone()
	s.lendNames(&f)
	f.pools = slices.Clone(s.pools)
	for i := range f.pools {
		if d := f.pools[i].Days; d != nil {
			f.pools[i].Days = d.Clone()
		}
		f.pools[i].readyBy = slices.Clone(f.pools[i].readyBy)
	}
	for k := range s.places {
		f.places[k] = slices.Clone(s.places[k])
	}
	f.prices.of = slices.Clone(s.prices.of)
	f.mains.of, f.mains.resources = slices.Clone(s.mains.of), slices.Clip(s.mains.resources)
	f.begunOf = maps.Clone(s.begunOf)
	f.begun, f.runs = slices.Clone(s.begun), slices.Clone(s.runs)
	f.runFree, f.begunFree = slices.Clone(s.runFree), slices.Clone(s.begunFree)
	f.stops.fork()
	f.queued = maps.Clone(s.queued)
	f.lingering = maps.Clone(s.lingering)
	f.backfill, f.hosts, f.single = backfilling{}, nil, nil
	f.reclaimer.fork()
	f.shapeReady, f.noRoom = s.shapeReady.clone(), s.noRoom.clone()
	f.later = later{heap: slices.Clone(s.later.heap), jobs: maps.Clone(s.later.jobs), serial: s.later.serial}
	f.boosts.fork()
	f.pauses.fork()
	f.ripening = slices.Clone(s.ripening)
	f.forkTolls()
	f.windowing.parked = slices.Clone(s.windowing.parked)
	f.inners = slices.Clone(s.inners)
	for i := range f.inners {
		f.inners[i].fork()
	}
	f.limited = slices.Clone(s.limited)
	for i := range f.limited {
		l := &f.limited[i]
		l.used, l.wants, l.parked = slices.Clone(l.used), slices.Clone(l.wants), slices.Clone(l.parked)
	}
	f.classOf, f.traits = maps.Clone(s.classOf), slices.Clip(s.traits)
	if s.ranks != nil {
		f.ranks = s.ranks.fork()
	}
	f.queues = slices.Clone(s.queues)
	var room forkRoom
	for i := range f.queues {
		f.queues[i].fork(&room)
	}
	return &f
}

// forkRoom is where the copies of small slices stand, many in one piece of memory: of a hundred
// thousand of them each would be an object to be made and to be collected.
type forkRoom struct {
	lines []line
	heads []lineHead
	pos   []int32
	order []heads
}

// copied is a copy of a slice, in what is left of a piece or a new one. It cannot grow into the next.
func copied[T any](room *[]T, s []T) []T {
	const piece = 1024
	if len(s) == 0 {
		return nil
	}
	if cap(*room)-len(*room) < len(s) {
		*room = make([]T, 0, max(piece, len(s)))
	}
	from := len(*room)
	*room = append(*room, s...)
	return (*room)[from:len(*room):len(*room)]
}

func (s *Scheduler) forkTolls() {
	s.tolls, s.licenses, s.rates = slices.Clone(s.tolls), slices.Clone(s.licenses), slices.Clone(s.rates)
	s.licenseOf, s.rateOf = maps.Clone(s.licenseOf), maps.Clone(s.rateOf)
	for i := range s.licenses {
		s.licenses[i].parked = slices.Clone(s.licenses[i].parked)
	}
	for i := range s.rates {
		s.rates[i].parked = slices.Clone(s.rates[i].parked)
	}
}

func (in *inner) fork() {
	in.owing, in.held = in.owing.fork(), in.held.fork()
	in.kids = slices.Clone(in.kids)
	in.keys.fork()
	in.arrivals.entries = slices.Clone(in.arrivals.entries)
	in.rising.entries, in.full.entries = slices.Clone(in.rising.entries), slices.Clone(in.full.entries)
	in.weights.sum = slices.Clone(in.weights.sum)
	in.needy = slices.Clone(in.needy)
	if in.allotting != nil {
		a := *in.allotting
		a.plan = plan{}
		in.allotting = &a
	}
}

func (q *queue) fork(room *forkRoom) {
	q.more = copied(&room.lines, q.more)
	if q.ordered() {
		q.heads = &copied(&room.order, []heads{{copied(&room.heads, q.heads.heap), copied(&room.pos, q.heads.pos)}})[0]
	}
	for i := range q.lines() {
		l := q.line(i)
		l.fresh = l.fresh.clone()
		if len(l.begun) > 0 {
			l.begun = slices.Clone(l.begun)
		} else {
			l.begun = nil
		}
	}
}
