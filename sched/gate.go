package sched

import "github.com/fairlead/fairlead/cluster"

// admit looks for a node for the job at the head of a line. A line that no node, no
// maximum, no licence or no rate has room for is parked until that may have changed.
func (s *Scheduler) admit(leaf int32, at lineRef) (cluster.NodeID, bool) {
	l := s.line(at)
	request := s.cluster.Request(l.shape)
	for id := leaf; id >= 0; id = s.pools[id].parent {
		if lim := s.limits(id); lim != nil && !lim.admits(request) {
			lim.parked = append(lim.parked, at)
			s.park(leaf, at, byMax)
			return 0, false
		}
	}
	if t := s.toll(l.shape); t != nil && !s.pay(leaf, at, t) {
		return 0, false
	}
	node, fits := s.cluster.Place(l.shape)
	if !fits && s.cfg.Placement != FCFS {
		s.noRoom.add(l.shape, at)
		s.park(leaf, at, byFit)
	}
	return node, fits
}

func (s *Scheduler) park(leaf int32, at lineRef, g gate) {
	s.setGate(at, g)
	s.settle(leaf)
}

// setGate changes the gate of a line. What a gate of its own holds back is not wanted: an
// ideal scheduler could not start it either.
func (s *Scheduler) setGate(at lineRef, g gate) {
	held, n := s.line(at).held(), s.line(at).tasks
	s.change(at, func(l *line) { l.gate = g })
	if now := s.line(at).held(); now && !held {
		s.want(at, -n)
	} else if held && !now {
		s.want(at, n)
	}
}

// unpark lets lines try again.
func (s *Scheduler) unpark(parked *[]lineRef) {
	refs := *parked
	*parked = nil
	for _, at := range refs {
		s.setGate(at, noGate)
		s.settle(s.queues[at.queue].pool)
	}
}

// openFits unparks the lines whose request fits somewhere again.
func (s *Scheduler) openFits() {
	for _, shape := range s.noRoom.fitting(s.cluster) {
		refs := s.noRoom.take(shape)
		s.returning(&refs, byFit)
	}
}

// somethingFits reports whether some job that no gate holds back would fit on some
// node, so that a step with nothing to do ends at once.
func (s *Scheduler) somethingFits() bool {
	for _, shape := range s.shapeReady.active {
		if s.cluster.Room(shape) {
			return true
		}
	}
	return false
}
