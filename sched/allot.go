package sched

import (
	"cmp"
	"math"
	"slices"
)

// whole is the number of slots that a pool divides: the cluster, or the share of the pool in it.
func (ord *orders) whole(id int32) int64 {
	whole := ord.tariff.capacity
	for ; id > 0; id = ord.tree.pools[id].parent {
		if weights := ord.tree.parentOf(id).counted.value(); weights > 0 {
			whole = whole * ord.tree.pools[id].Weight / weights // in this order halves are exact
		}
		if l := ord.tree.limits(id); l != nil && len(l.max) > 0 && l.max[0] >= 0 {
			whole = math.Min(whole, float64(l.max[0]))
		}
	}
	return int64(math.Round(whole))
}

// retarget updates the targets of a pool's children. All children count, with or without work: the unused part of a
// target is loaned to others.
func (e *choice) retarget(in *inner) {
	if in.as.allot == nil {
		e.orders.reorder(in)
		return
	}
	a := in.allotting
	whole := e.orders.whole(in.id)
	if a.fresh && whole == a.whole {
		return
	}
	weights := make([]float64, len(in.kids))
	for i, kid := range in.kids {
		weights[i] = e.tree.pools[kid].Weight
	}
	a.whole, a.fresh, a.loaned = whole, true, sum{}
	a.plan = plan{}
	for i, target := range in.as.allot.Targets(whole, weights) {
		p := &e.tree.pools[in.kids[i]]
		p.Target, p.over = float64(target), 0
		e.tree.owe(in, p)
	}
	in.keys.clear()
	for _, kid := range in.kids {
		if e.tree.pools[kid].seat.in {
			e.orders.putKey(in, kid)
		}
	}
}

// chooseAllotted follows the plan. It makes a new plan if events have invalidated the old one, or if the old one is
// used up.
func (e *choice) chooseAllotted(in *inner, l *Level) int32 {
	p, id := &in.allotting.plan, int32(-1)
	if p.serial == e.site.events || p.pinned {
		id = e.nextPlanned(in)
	}
	if id < 0 && in.as.allot.Single() && e.site.room() <= 1 {
		return e.chooseFirst(in, l)
	}
	if id < 0 {
		*p = e.allot(in)
		id = e.nextPlanned(in)
	}
	if id < 0 { // no pool is entitled to the rest
		return e.chooseFirst(in, l)
	}
	l.byPlan = true
	return id
}

func (e *choice) nextPlanned(in *inner) int32 {
	for _, id := range in.allotting.plan.turns {
		if e.tree.pools[id].seat.in {
			return id
		}
	}
	for _, id := range in.allotting.plan.order {
		p, left := &e.tree.pools[id], in.allotting.plan.left
		if p.seat.in && int(p.seat.kid) < len(left) && left[p.seat.kid] > 0 {
			return id
		}
	}
	return -1
}

// classes describes the children for an allotter.
func (t *tree) classes(in *inner) []Claimant {
	all := make([]Claimant, len(in.kids))
	for i, kid := range in.kids {
		p := &t.pools[kid]
		all[i] = Claimant{Load: p.Weight, Target: int64(p.Target), Running: int64(p.Running)}
		if p.seat.in {
			all[i].Waiting = int64(p.Wanted)
		}
	}
	return all
}

func (e *choice) allot(in *inner) plan {
	return e.planOf(in, in.as.allot.Allot(e.site.room(), e.tree.classes(in)))
}

// planOf orders allotments by start: by key or, if the policy cannot serve single slots by key, by weight.
func (e *choice) planOf(in *inner, slots []int64) plan {
	p := plan{serial: e.site.events, left: slots}
	type place struct {
		id       int32
		key, tie float64
	}
	served := 0
	for _, n := range slots {
		if n != 0 {
			served++
		}
	}
	places := make([]place, 0, served)
	for i, n := range slots {
		if n == 0 {
			continue
		}
		id := in.kids[i]
		x := place{id, -e.tree.pools[id].Weight, 0}
		if in.as.allot.Single() {
			t := in.as.keyed.Terms(&e.tree.pools[id], e.orders.setting(in))
			x.key, x.tie = t.Key, t.Tie
		}
		places = append(places, x)
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.tie, b.tie))
	})
	p.order = make([]int32, 0, served)
	for _, x := range places {
		p.order = append(p.order, x.id)
	}
	return p
}

// useUp counts a start of width slots against the plan of the pool above.
func (t *tree) useUp(id int32, width float64) {
	if !t.allots || id == int32(Root) {
		return
	}
	in := t.parentOf(id)
	if in.as.allot == nil || in.allotting.plan.serial == 0 {
		return
	}
	p, kid := &in.allotting.plan, t.pools[id].seat.kid
	if turn := slices.Index(p.turns, id); turn >= 0 {
		p.turns = slices.Delete(p.turns, turn, turn+1)
	} else if int(kid) < len(p.left) && p.left[kid] > 0 {
		p.left[kid] = max(0, p.left[kid]-int64(width))
	}
}
