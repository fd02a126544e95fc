package sched

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// plan is how many slots an allotter allotted to each child. It holds until something
// happens that is not one of its own starts.
type plan struct {
	serial uint64  // of the events at which it was made; 0: none
	pinned bool    // it follows a rebalancing, and holds until it is used up
	order  []int32 // children with slots, in the order in which they start
	left   []int64 // slots that are not used up, by position among the children
}

// allotting is what a pool under an allotter keeps besides.
type allotting struct {
	whole  int64 // slots that were divided into targets
	fresh  bool  // the targets are those of the children and weights that there are
	open   sum   // weights of the children with work that may start
	loaned sum   // slots that children have above their targets
	plan   plan
	over   time.Time // since when the spread is above the threshold; zero if it is not
}

// whole is how many slots a pool divides: the cluster, or what it is entitled to of it.
func (s *Scheduler) whole(id int32) int64 {
	whole := s.capacity
	for ; id > 0; id = s.pools[id].parent {
		if weights := s.parentOf(id).counted.value(); weights > 0 {
			whole *= s.pools[id].Weight / weights
		}
		if l := s.limits(id); l != nil && len(l.max) > 0 && l.max[0] >= 0 {
			whole = math.Min(whole, float64(l.max[0]))
		}
	}
	return int64(math.Round(whole))
}

// retarget brings the targets of a pool's children up to date. All children count, with
// or without work: what one does not use of its target is loaned.
func (s *Scheduler) retarget(in *inner) {
	if in.allot == nil {
		s.reorder(in)
		return
	}
	a := in.allotting
	whole := s.whole(in.id)
	if a.fresh && whole == a.whole {
		return
	}
	weights := make([]float64, len(in.kids))
	for i, kid := range in.kids {
		weights[i] = s.pools[kid].Weight
	}
	a.whole, a.fresh, a.loaned = whole, true, sum{}
	a.plan = plan{}
	for i, target := range in.allot.Targets(whole, weights) {
		p := &s.pools[in.kids[i]]
		p.Target, p.over = float64(target), 0
		s.owe(in, p)
	}
	in.keys.clear()
	for _, kid := range in.kids {
		if s.pools[kid].in {
			s.putKey(in, kid)
		}
	}
}

// owe keeps up what is on loan.
func (s *Scheduler) owe(in *inner, p *Pool) {
	if over := math.Max(0, p.Running-p.Target); over != p.over {
		in.allotting.loaned.add(over - p.over)
		p.over = over
	}
}

// room is how many slots are free. A preview gives them out one by one.
func (s *Scheduler) room() int64 {
	if s.oneByOne {
		return 1
	}
	return s.cluster.FreeUnits()
}

// chooseAllotted follows the plan, which is made anew when it does not hold any more or
// is used up.
func (s *Scheduler) chooseAllotted(in *inner, l *Level) int32 {
	p, id := &in.allotting.plan, int32(-1)
	if p.serial == s.events || p.pinned {
		id = s.nextPlanned(in)
	}
	if id < 0 && in.allot.Single() && s.room() <= 1 {
		return s.chooseFirst(in, l)
	}
	if id < 0 {
		*p = s.allot(in)
		id = s.nextPlanned(in)
	}
	if id < 0 { // nothing is entitled to what is left
		return s.chooseFirst(in, l)
	}
	l.Terms = in.keyed.Terms(&s.pools[id], s.setting(in))
	return id
}

func (s *Scheduler) nextPlanned(in *inner) int32 {
	for _, id := range in.allotting.plan.order {
		if p := &s.pools[id]; p.in && int(p.kid) < len(in.allotting.plan.left) && in.allotting.plan.left[p.kid] > 0 {
			return id
		}
	}
	return -1
}

// classes are the children as an allotter sees them.
func (s *Scheduler) classes(in *inner) []Claimant {
	all := make([]Claimant, len(in.kids))
	for i, kid := range in.kids {
		p := &s.pools[kid]
		all[i] = Claimant{Load: p.Weight, Target: int64(p.Target), Running: int64(p.Running)}
		if p.in {
			all[i].Waiting = int64(p.Wanted)
		}
	}
	return all
}

func (s *Scheduler) allot(in *inner) plan {
	return s.planOf(in, in.allot.Allot(s.room(), s.classes(in)))
}

// planOf puts allotments into the order in which they start: by key or, where a slot at a
// time does not follow the keys, by weight.
func (s *Scheduler) planOf(in *inner, slots []int64) plan {
	p := plan{serial: s.events, left: slots}
	type place struct {
		id       int32
		key, tie float64
	}
	var places []place
	for i, n := range slots {
		if n == 0 {
			continue
		}
		id := in.kids[i]
		x := place{id, -s.pools[id].Weight, 0}
		if in.allot.Single() {
			t := in.keyed.Terms(&s.pools[id], s.setting(in))
			x.key, x.tie = t.Key, t.Tie
		}
		places = append(places, x)
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.tie, b.tie))
	})
	for _, x := range places {
		p.order = append(p.order, x.id)
	}
	return p
}

// useUp counts a start of so many slots against the plan of the pool above.
func (s *Scheduler) useUp(id int32, width float64) {
	if !s.allots || id == int32(Root) {
		return
	}
	in := s.parentOf(id)
	if in.allot == nil || in.allotting.plan.serial == 0 {
		return
	}
	p, kid := &in.allotting.plan, s.pools[id].kid
	if int(kid) < len(p.left) && p.left[kid] > 0 {
		p.left[kid] = max(0, p.left[kid]-int64(width))
	}
}
