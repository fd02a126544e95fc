package sched

import (
	"math"
	"slices"
)

// settle brings the place of a pool in its parent's orders up to date after
// something happened to it, and so on up to the root.
func (s *Scheduler) settle(id int32) {
	if s.deferred {
		return
	}
	for id != int32(Root) {
		s.place(id)
		id = s.pools[id].parent
	}
}

// place does it for one pool.
func (s *Scheduler) place(id int32) {
	p := &s.pools[id]
	switch open := s.open(id); {
	case open && p.in:
		s.refresh(id)
	case open:
		s.putIn(id)
	case p.in:
		s.takeOut(id)
	}
}

// open reports whether a pool has work that may start. It also brings First up to
// date, which follows from the same.
func (s *Scheduler) open(id int32) bool {
	p := &s.pools[id]
	if l := s.limits(id); l != nil && l.full(p.Tasks) {
		return false
	}
	if id != int32(Root) {
		if in := s.parentOf(id); in.allot != nil && !in.allot.Serves(p.Weight) {
			return false
		}
	}
	if p.inner >= 0 {
		in := &s.inners[p.inner]
		if in.first {
			p.First = math.Inf(1)
			if len(in.arrivals.entries) > 0 {
				p.First = in.arrivals.entries[0].key
			}
		}
		if id != int32(Root) && s.parentOf(id).ranks {
			s.rank(id)
		}
		return in.open > 0
	}
	if p.queue < 0 {
		return false
	}
	if s.parentOf(id).first {
		p.First = s.firstArrival(p)
	}
	if s.parentOf(id).ranks {
		s.rank(id)
	}
	return s.queues[p.queue].ready > 0
}

func (s *Scheduler) parentOf(id int32) *inner {
	return &s.inners[s.pools[s.pools[id].parent].inner]
}

func (s *Scheduler) putIn(id int32) {
	p, in := &s.pools[id], s.parentOf(id)
	p.in = true
	in.open++
	if in.allot != nil {
		in.allotting.open.add(p.Weight)
	}
	if !s.rebuilding {
		p.kept = s.keeping
	}
	if in.carrier != nil && !s.rebuilding && s.keeping == noGate {
		if level := s.level(in); in.carrier.Level(p, s.now) < level {
			in.carrier.Carry(p, level, s.now)
		}
	}
	switch {
	case in.keyed != nil:
		s.putKey(in, id)
	case in.weigher != nil:
		in.weights.set(int(p.kid), in.weigher.Weigh(p).Key)
	}
	if in.first {
		in.arrivals.push(rank{p.First, id}, s)
	}
	s.putRanks(in, id)
	s.markNeedy(id, in)
}

// level is where a child enters that returns: at the least level of the children that
// are next in order or, if nobody is there, at the clock. Those that kept their place
// while a licence or a rate held them back do not count.
func (s *Scheduler) level(in *inner) float64 {
	least := math.Inf(1)
	for i := range in.keys.orders {
		for _, r := range in.keys.orders[i].entries[:min(len(in.keys.orders[i].entries), 1+arity)] {
			if p := &s.pools[r.child]; p.kept == noGate {
				least = math.Min(least, in.carrier.Level(p, s.now))
			}
		}
	}
	if math.IsInf(least, 1) {
		return in.clock
	}
	return least
}

func (s *Scheduler) takeOut(id int32) {
	p := &s.pools[id]
	if !p.in || s.deferred {
		return
	}
	in := s.parentOf(id)
	p.in = false
	in.open--
	if in.allot != nil {
		in.allotting.open.add(-p.Weight)
	}
	if i := s.places[inKeyOrder][id]; i >= 0 {
		in.keys.remove(s.pools[id].drift, int(i), s)
	}
	if in.weigher != nil {
		in.weights.set(int(p.kid), 0)
	}
	if i := s.places[inArrivalOrder][id]; i >= 0 {
		in.arrivals.remove(int(i), s)
	}
	s.stand(&in.rising, id, math.Inf(1))
	s.stand(&in.full, id, math.Inf(1))
	s.markNeedy(id, in)
}

// refresh computes the key of an open pool anew.
func (s *Scheduler) refresh(id int32) {
	p, in := &s.pools[id], s.parentOf(id)
	if in.keyed != nil {
		s.setKey(in, id)
	}
	if in.first {
		in.arrivals.set(int(s.places[inArrivalOrder][id]), p.First, s)
	}
	s.putRanks(in, id)
	s.markNeedy(id, in)
}

// markNeedy keeps the list, in order of age, of open children that are below their
// minimum, or in which such a pool is open.
func (s *Scheduler) markNeedy(id int32, in *inner) {
	p := &s.pools[id]
	needy := false
	if p.in {
		l := s.limits(id)
		needy = l != nil && l.below() || p.inner >= 0 && len(s.inners[p.inner].needy) > 0
	}
	if needy == p.needy {
		return
	}
	p.needy = needy
	i, _ := slices.BinarySearch(in.needy, id)
	if needy {
		in.needy = slices.Insert(in.needy, i, id)
	} else {
		in.needy = slices.Delete(in.needy, i, i+1)
	}
}

// rebuild computes all orders from scratch, after a change that may touch all keys.
func (s *Scheduler) rebuild() {
	for i := range s.pools {
		p := &s.pools[i]
		p.in, p.needy = false, false
		for k := range s.places {
			s.places[k][i] = -1
		}
	}
	for i := range s.inners {
		in := &s.inners[i]
		in.open, in.needy, in.weights = 0, nil, sumTree{}
		in.keys.clear()
		in.arrivals.entries = in.arrivals.entries[:0]
		in.rising.entries, in.full.entries = in.rising.entries[:0], in.full.entries[:0]
	}
	if s.ranks != nil {
		s.ranks.fills.entries = s.ranks.fills.entries[:0]
	}
	s.events++
	s.deferred, s.rebuilding = false, true
	s.countAll()
	s.placeBelow(int32(Root))
	s.rebuilding = false
}

// placeBelow places all pools below id, children before their parents.
func (s *Scheduler) placeBelow(id int32) {
	if s.pools[id].inner < 0 {
		return
	}
	for _, kid := range s.inners[s.pools[id].inner].kids {
		s.placeBelow(kid)
		s.place(kid)
	}
}
