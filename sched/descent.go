package sched

import (
	"math"
	"slices"

	"github.com/fairlead/fairlead/why"
)

// choose walks from the root down to a leaf pool and records the choices.
func (e *choice) choose(d *Decision) int32 {
	id := int32(Root)
	for e.tree.pools[id].inner >= 0 {
		n := len(d.levels)
		d.levels = slices.Grow(d.levels, 1)[:n+1]
		l := &d.levels[n]
		*l = Level{Pool: PoolID(id)} // in place: a level is large
		if id = e.chooseChild(&e.tree.inners[e.tree.pools[id].inner], l); id < 0 {
			return -1
		}
		l.Child = PoolID(id)
	}
	return id
}

func (e *choice) chooseChild(in *inner, l *Level) int32 {
	l.Open = int32(in.open)
	e.retarget(in)
	switch {
	case len(in.belowMin) > 0:
		l.BelowMin = true
		return e.chooseBelowMin(in, l)
	case in.as.allot != nil:
		return e.chooseAllotted(in, l)
	case in.as.weigher != nil:
		return e.drawChild(in, l)
	case in.as.ranker != nil:
		return e.chooseRanked(in, l)
	}
	return e.chooseFirst(in, l)
}

// chooseBelowMin chooses among the few children below their minimum, by the same policy.
func (e *choice) chooseBelowMin(in *inner, l *Level) int32 {
	if in.as.keyed == nil && in.as.ranker == nil {
		return e.drawBelowMin(in, l)
	}
	best := int32(-1)
	for _, id := range in.belowMin {
		t := e.terms(in, id)
		if best < 0 || e.goesBeforeNow(in, &t, id, &l.Terms, best) {
			l.Rival, l.RivalTerms = PoolID(max(0, best)), l.Terms
			best, l.Terms = id, t
		} else if l.Rival == Root || e.goesBeforeNow(in, &t, id, &l.RivalTerms, int32(l.Rival)) {
			l.Rival, l.RivalTerms = PoolID(id), t
		}
	}
	return best
}

// terms returns the terms of a child under a policy with keys.
func (e *choice) terms(in *inner, id int32) why.Terms {
	if in.as.ranker != nil {
		return e.rankTerms(in, id)
	}
	return in.as.keyed.Terms(&e.tree.pools[id], e.orders.settingOf(in, id))
}

// drawBelowMin draws one of the children below their minimum, by weight.
func (e *choice) drawBelowMin(in *inner, l *Level) int32 {
	total := 0.0
	for _, id := range in.belowMin {
		total += e.tree.pools[id].Weight
	}
	x := e.random() * total
	for _, id := range in.belowMin {
		if x -= e.tree.pools[id].Weight; x < 0 || id == in.belowMin[len(in.belowMin)-1] {
			if in.as.weigher != nil {
				l.Terms = in.as.weigher.Weigh(&e.tree.pools[id])
			}
			return id
		}
	}
	return -1
}

// drawChild draws an open child at random.
func (e *choice) drawChild(in *inner, l *Level) int32 {
	id := in.kids[in.weights.find(e.random()*in.weights.total())]
	l.Terms = in.as.weigher.Weigh(&e.tree.pools[id])
	return id
}

// chooseIn returns the child that goes first. A policy that allots free room has nothing to allot while no room is
// free; then the oldest open child goes first.
func (e *choice) chooseIn(in *inner) int32 {
	var l Level
	if id := e.chooseChild(in, &l); id >= 0 {
		return id
	}
	return in.kids[slices.IndexFunc(in.kids, func(kid int32) bool { return e.tree.pools[kid].seat.in })]
}

// findRivals finds the rivals of choices by key, and the terms of planned choices. Most choices do not lead to a start,
// because there is no room for the pool's requests; these need neither.
func (e *choice) findRivals(way []Level) {
	for i := range way {
		switch l, in := &way[i], &e.tree.inners[e.tree.pools[way[i].Pool].inner]; {
		case l.byKey:
			e.rival(in, int32(l.Child), l)
		case l.byPlan:
			l.Terms = in.as.keyed.Terms(&e.tree.pools[l.Child], e.orders.setting(in))
		}
	}
}

// metMinimum reports whether a child that was chosen because it was below its minimum has reached it, so that the
// next choice is open again.
func (e *choice) metMinimum(way []Level) bool {
	for i := range way {
		if way[i].BelowMin && !e.tree.pools[way[i].Child].seat.belowMin {
			return true
		}
	}
	return false
}

// shortlist returns the limits that the root's policy sets for one step.
func (e *choice) shortlist() (pools, jobs int) {
	if p, ok := e.tree.inners[e.tree.pools[Root].inner].policy.(Shortlister); ok {
		pools, jobs = p.Shortlist()
	}
	return pools, max(1, jobs)
}

// wayTo records the path from the root to a leaf pool that was not compared with others.
func (e *choice) wayTo(leaf int32, d *Decision) {
	from := len(d.levels)
	for id := leaf; id != int32(Root); id = e.tree.pools[id].parent {
		in := e.tree.parentOf(id)
		l := Level{Pool: PoolID(in.id), Child: PoolID(id), Open: int32(in.open)}
		switch {
		case in.as.weigher != nil:
			l.Terms = in.as.weigher.Weigh(&e.tree.pools[id])
		default:
			l.Terms = e.terms(in, id)
		}
		d.levels = append(d.levels, l)
	}
	slices.Reverse(d.levels[from:])
}

// planned advances clocks and random numbers on the path to a leaf pool that a plan chose, as a regular choice
// would.
func (e *choice) planned(leaf int32) {
	for id := leaf; id != int32(Root); id = e.tree.pools[id].parent {
		in := e.tree.parentOf(id)
		if in.as.weigher != nil {
			e.random()
		}
		if in.as.carrier != nil {
			in.clock = math.Max(in.clock, in.as.carrier.Level(&e.tree.pools[id], e.site.now))
		}
	}
}
