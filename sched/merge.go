package sched

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// Under a [Merger] children that tie, and have children of their own, go in the order of
// these: the first of each is compared as if all were the children of one pool.

// merge looks for children that tie with the leading one, and returns the one whose own
// first child goes first. Children that never received anything all tie, as do those
// below them that have a weight: of these no leaf goes before another.
func (s *Scheduler) merge(in *inner, leader int32, t *why.Terms) int32 {
	if !s.pools[leader].Divides() || t.Key == 0 && s.unbeaten(leader) {
		return leader
	}
	o := &in.keys.orders[0]
	tied := s.tiesOf(in, o, 0, t.Key, nil)
	for _, id := range tied {
		if id != leader && s.pools[id].Divides() && s.leads(id, leader) {
			leader = id
		}
	}
	*t = in.keyed.Terms(&s.pools[leader], s.setting(in))
	return leader
}

// unbeaten reports whether the first child of a pool that never received anything is a
// leaf with a weight.
func (s *Scheduler) unbeaten(id int32) bool {
	in := &s.inners[s.pools[id].inner]
	if in.merger == nil || in.open == 0 {
		return true
	}
	var t why.Terms
	first := &s.pools[s.leading(in, &t)]
	return !first.Divides() && first.Weight > 0
}

// tiesOf collects the children at and below i whose key is key.
func (s *Scheduler) tiesOf(in *inner, o *order, i int, key float64, found []int32) []int32 {
	if i >= len(o.entries) || o.entries[i].key > key {
		return found
	}
	id := o.entries[i].child
	if in.keyed.Terms(&s.pools[id], s.setting(in)).Key == key {
		found = append(found, id)
	}
	for c := arity*i + 1; c <= arity*i+arity; c++ {
		found = s.tiesOf(in, o, c, key, found)
	}
	return found
}

// leads reports whether the first child of one pool goes before that of another. A pool
// whose own policy does not merge has no such child: it goes first, like a user.
func (s *Scheduler) leads(a, b int32) bool {
	ina, inb := &s.inners[s.pools[a].inner], &s.inners[s.pools[b].inner]
	if ma, mb := ina.merges(), inb.merges(); !ma || !mb {
		return !ma && mb || ma == mb && a < b
	}
	var ta, tb why.Terms
	x, y := s.leading(ina, &ta), s.leading(inb, &tb)
	if c := s.compareParts(x, y); c != 0 {
		return c < 0
	}
	dx, dy := s.pools[x].Divides(), s.pools[y].Divides()
	switch {
	case dx != dy:
		return dy
	case !dx:
		return a < b
	}
	return s.leads(x, y)
}

func (in *inner) merges() bool { return in.merger != nil && in.open > 0 }

// compareParts orders children of different pools by what they used of what their
// siblings used, for their part of the siblings' weights: smallest first, and exactly.
func (s *Scheduler) compareParts(x, y int32) int {
	px, py := &s.pools[x], &s.pools[y]
	inx, iny := s.parentOf(x), s.parentOf(y)
	if px.Weight == 0 || py.Weight == 0 {
		return cmp.Compare(py.Weight, px.Weight)
	}
	if ux, uy := px.Service(s.now), py.Service(s.now); ux <= 0 || uy <= 0 { // nor need the pools above have any
		return cmp.Compare(math.Max(0, ux), math.Max(0, uy))
	}
	left := usage.Product(px.Service(s.now), inx.counted.value(), py.Weight, s.pools[iny.id].Service(s.now))
	right := usage.Product(py.Service(s.now), iny.counted.value(), px.Weight, s.pools[inx.id].Service(s.now))
	return left.Cmp(right)
}

// rankTies gives candidates that tie under a merger their places by their children, so
// that what is shown is what is compared.
func (s *Scheduler) rankTies(in *inner, all []candidate) {
	if in.merger == nil {
		return
	}
	tied := map[float64][]int{}
	for i := range all {
		if p := &s.pools[all[i].id]; p.Divides() && p.in {
			tied[all[i].terms.Key] = append(tied[all[i].terms.Key], i)
		}
	}
	for key, places := range tied {
		oldest := slices.MinFunc(places, func(i, k int) int { return cmp.Compare(all[i].id, all[k].id) })
		if len(places) < 2 || key == 0 && s.unbeaten(all[oldest].id) {
			continue
		}
		slices.SortFunc(places, func(i, k int) int {
			if s.leads(all[i].id, all[k].id) {
				return -1
			}
			return 1
		})
		for rank, i := range places {
			all[i].terms.Tie = 1 + float64(rank)
		}
	}
}
