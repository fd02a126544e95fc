package sched

import (
	"math"
	"slices"
)

// turns updates the place of each pool in the orders, after any event that may change it.
type turns struct {
	site       *site
	tariff     *tariff
	tree       *tree
	precedence *precedence
	orders     *orders
	queues     *queues
	running    *running

	rebuilding bool
	keeping    gate // if set: pools that join keep their place, because this gate held them back
}

// settle updates the place of a pool in its parent's orders after an event, and then the places of the pools above
// it.
func (u *turns) settle(id int32) {
	if u.orders.deferred {
		return
	}
	for id != int32(Root) {
		u.place(id)
		id = u.tree.pools[id].parent
	}
}

// place updates the place of one pool.
func (u *turns) place(id int32) {
	p := &u.tree.pools[id]
	switch open := u.queues.open(id); {
	case open && p.seat.in:
		u.orders.refresh(id)
	case open:
		u.putIn(id)
	case p.seat.in:
		u.orders.takeOut(id)
	}
}

// open reports whether a pool has work that may start. It also updates First.
func (w *queues) open(id int32) bool {
	p := &w.tree.pools[id]
	if l := w.tree.limits(id); l != nil && l.full(p.Tasks) {
		return false
	}
	above := w.tree.inAbove(id)
	if above != nil && above.as.allot != nil && !above.as.allot.Serves(p.Weight) {
		return false
	}
	if p.inner >= 0 {
		in := &w.tree.inners[p.inner]
		if in.first {
			p.First = math.Inf(1)
			if all := in.byArrival(); len(all) > 0 {
				p.First = all[0].key
			}
		}
		if above != nil && above.ranks {
			w.rank(id)
		}
		return in.open > 0
	}
	if p.queue < 0 {
		return false
	}
	if above.first {
		p.First = w.firstArrival(p)
	}
	if above.ranks {
		w.rank(id)
	}
	return w.all[p.queue].ready > 0
}

func (u *turns) putIn(id int32) {
	p, in := &u.tree.pools[id], u.tree.parentOf(id)
	p.seat.in = true
	in.open++
	if in.as.allot != nil {
		in.allotting.open.add(p.Weight)
	}
	if !u.rebuilding {
		p.seat.kept = u.keeping
	}
	if in.as.carrier != nil && !u.rebuilding && u.keeping == noGate {
		if level := u.tree.level(in); in.as.carrier.Level(p, u.site.now) < level {
			in.as.carrier.Carry(p, level, u.site.now)
		}
	}
	switch {
	case in.as.keyed != nil:
		u.orders.putKey(in, id)
	case in.as.weigher != nil:
		in.weights.set(int(p.seat.kid), in.as.weigher.Weigh(p).Key)
	}
	if in.listsArrivals() {
		in.arrivals.push(rank{place{p.First, p.seat.tie}, id}, u.orders)
	}
	u.orders.putRanks(in, id)
	u.tree.markBelowMin(id, in)
}

// level is where a returning child joins: the least level of the children that are next in order or, if there are
// none, the clock. Children that kept their place while a gate held them back do not count.
func (t *tree) level(in *inner) float64 {
	least := math.Inf(1)
	for i := range in.keys.orders {
		for _, r := range in.keys.orders[i].entries[:min(len(in.keys.orders[i].entries), 1+arity)] {
			if p := &t.pools[r.child]; p.seat.kept == noGate {
				least = math.Min(least, in.as.carrier.Level(p, t.site.now))
			}
		}
	}
	if math.IsInf(least, 1) {
		return in.clock
	}
	return least
}

func (ord *orders) takeOut(id int32) {
	p := &ord.tree.pools[id]
	if !p.seat.in || ord.deferred {
		return
	}
	in := ord.tree.parentOf(id)
	p.seat.in = false
	in.open--
	if in.as.allot != nil {
		in.allotting.open.add(-p.Weight)
	}
	if i := ord.places[inKeyOrder][id]; i >= 0 {
		in.keys.remove(ord.tree.pools[id].seat.drift, int(i), ord)
	}
	ord.standApart(in, id)
	if in.as.weigher != nil {
		in.weights.set(int(p.seat.kid), 0)
	}
	if i := ord.places[inArrivalOrder][id]; i >= 0 {
		in.arrivals.remove(int(i), ord)
	}
	ord.stand(&in.rising, id, nowhere)
	ord.stand(&in.full, id, nowhere)
	ord.tree.markBelowMin(id, in)
}

// refresh recomputes the key of an open pool.
func (ord *orders) refresh(id int32) {
	p, in := &ord.tree.pools[id], ord.tree.parentOf(id)
	if in.as.keyed != nil {
		ord.setKey(in, id)
	}
	if in.listsArrivals() {
		ord.stand(&in.arrivals, id, place{p.First, p.seat.tie})
	}
	ord.putRanks(in, id)
	ord.tree.markBelowMin(id, in)
}

// markBelowMin updates the list, in order of age, of open children that are below their minimum, or contain an open
// pool below its minimum.
func (t *tree) markBelowMin(id int32, in *inner) {
	p := &t.pools[id]
	belowMin := false
	if p.seat.in {
		l := t.limits(id)
		belowMin = l != nil && l.below() || p.inner >= 0 && len(t.inners[p.inner].belowMin) > 0
	}
	if belowMin == p.seat.belowMin {
		return
	}
	p.seat.belowMin = belowMin
	i, _ := slices.BinarySearch(in.belowMin, id)
	if belowMin {
		in.belowMin = slices.Insert(in.belowMin, i, id)
	} else {
		in.belowMin = slices.Delete(in.belowMin, i, i+1)
	}
}

// placeBelow places all pools below id, children before their parents.
func (u *turns) placeBelow(id int32) {
	if u.tree.pools[id].inner < 0 {
		return
	}
	for _, kid := range u.tree.inners[u.tree.pools[id].inner].kids {
		u.placeBelow(kid)
		u.place(kid)
	}
}
