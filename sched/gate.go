package sched

import "github.com/fairlead/fairlead/cluster"

// admit looks for a node for the job at the head of a line. A line that no node, no
// maximum, no licence or no rate has room for is parked until that may have changed.
func (s *Scheduler) admit(leaf int32, at lineRef, job int64) (cluster.NodeID, bool) {
	if !s.passes(leaf, at) {
		return 0, false
	}
	l := s.line(at)
	node, fits := s.nodeFor(at, job)
	if !fits && s.cfg.Placement != FCFS {
		s.noRoom.add(l.shape, at)
		s.park(leaf, at, byFit)
	}
	return node, fits
}

// passes reports whether no gate but the want of room holds a line back. One that does
// parks it.
func (s *Scheduler) passes(leaf int32, at lineRef) bool {
	l := s.line(at)
	for id := leaf; id >= 0; id = s.pools[id].parent {
		if lim := s.limits(id); lim != nil && !s.admits(lim, id, l.shape) {
			lim.parked = append(lim.parked, at)
			s.park(leaf, at, byMax)
			return false
		}
	}
	if !s.untilOpen(leaf, at) {
		return false
	}
	t := s.toll(l.shape)
	return t == nil || s.pay(leaf, at, t)
}

// nodeFor finds a node for a task of a line, as the placement has it.
func (s *Scheduler) nodeFor(at lineRef, job int64) (cluster.NodeID, bool) {
	if s.cfg.Placement == EASY {
		return s.backfillOn(at, job)
	}
	l := s.line(at)
	return s.find(l.shape, l.limit)
}

func (s *Scheduler) park(leaf int32, at lineRef, g gate) {
	s.setGate(at, g)
	s.regated(leaf)
}

// regated brings the place of a leaf up to date after the gate of a line changed. One that
// goes by its account only, and has other lines, stands where it stood.
func (s *Scheduler) regated(leaf int32) {
	if p := &s.pools[leaf]; p.in && s.queues[p.queue].ready > 0 && s.byAccount(leaf) {
		return
	}
	s.settle(leaf)
}

// byAccount reports whether it makes no difference to the place of a leaf for which of its
// jobs there is room.
func (s *Scheduler) byAccount(leaf int32) bool {
	in := s.parentOf(leaf)
	return in.keyed != nil && in.allot == nil && !in.first && !in.ranks && !s.byResource()
}

// againFirst reports whether a leaf that was chosen, of which a line turned out to have no
// room, would be chosen again for another line.
func (s *Scheduler) againFirst(leaf int32) bool {
	if !s.byAccount(leaf) {
		return false
	}
	for id := leaf; id != int32(Root); id = s.pools[id].parent {
		if in := s.parentOf(id); in.keyed == nil || in.allot != nil || len(in.needy) > 0 {
			return false
		}
	}
	return true
}

// setGate changes the gate of a line. What a gate of its own holds back is not wanted: an
// ideal scheduler could not start it either.
func (s *Scheduler) setGate(at lineRef, g gate) {
	q := &s.queues[at.queue]
	l := q.line(int(at.line))
	if g == noGate {
		g = s.openGate(q.pool)
	}
	held, n, was := l.held(), l.tasks, l.ready()
	l.gate = g
	s.count(q, at.line, was)
	if now := l.held(); now && !held {
		s.want(at, -n)
	} else if held && !now {
		s.want(at, n)
	}
}

// unpark lets lines try again.
func (s *Scheduler) unpark(parked *[]lineRef) {
	refs := *parked
	*parked = nil
	s.backfill.keep.relist = s.backfill.keep.relist || len(refs) > 0
	if len(refs) > 0 {
		s.events++
	}
	for _, at := range refs {
		s.setGate(at, noGate)
		s.regated(s.queues[at.queue].pool)
	}
}

// parkRoomless parks all lines of a leaf for which there is no room, where nothing else
// could hold them back.
func (s *Scheduler) parkRoomless(leaf int32) {
	for id := leaf; id >= 0; id = s.pools[id].parent {
		if s.limits(id) != nil {
			return
		}
	}
	n := s.pools[leaf].queue
	q := &s.queues[n]
	for i := range q.lines() {
		if l := q.line(i); l.ready() && s.toll(l.shape) == nil && !s.cluster.Room(l.shape) {
			at := lineRef{n, int32(i)}
			s.noRoom.add(l.shape, at)
			s.setGate(at, byFit)
		}
	}
	s.regated(leaf)
}

// openFits unparks the lines whose request fits somewhere again.
func (s *Scheduler) openFits() {
	if s.backfills() {
		return // see lookAgain
	}
	if s.cluster.Windowed() {
		refs := s.fitting()
		s.returning(&refs, byFit)
		return
	}
	for _, shape := range s.noRoom.fitting(s.cluster) {
		refs := s.noRoom.take(shape)
		s.returning(&refs, byFit)
	}
}

// somethingFits reports whether some job that no gate holds back would fit on some
// node, so that a step with nothing to do ends at once.
func (s *Scheduler) somethingFits() bool {
	if r := &s.shapeReady; int(r.last) < len(r.n) && r.n[r.last] != 0 && s.cluster.Room(r.last) {
		return true
	}
	for _, shape := range s.shapeReady.active {
		if s.cluster.Room(shape) {
			s.shapeReady.last = shape
			return true
		}
	}
	return false
}
