package sched

import (
	"maps"
	"slices"
)

// of returns the index of a drift's order, and creates the order if it does not exist.
func (k *keys) of(drift [2]float64) int32 {
	n, ok := k.number[drift]
	if !ok {
		if n = k.free.take(len(k.orders)); int(n) == len(k.orders) {
			k.orders, k.drifts = append(k.orders, order{by: k.by}), append(k.drifts, drift)
		}
		k.number[drift], k.drifts[n] = n, drift
	}
	return n
}

// remove removes the child at a place from an order. Drifts come and go: an empty order is reused for the next.
func (k *keys) remove(drift int32, place int, ord *orders) {
	o := &k.orders[drift]
	o.remove(place, ord)
	if k.number != nil && len(o.entries) == 0 {
		delete(k.number, k.drifts[drift])
		k.free = append(k.free, drift)
	}
}

func (k *keys) clear() {
	for i := range k.orders {
		k.orders[i].entries = k.orders[i].entries[:0]
	}
	if k.number != nil {
		k.orders, k.drifts, k.free = k.orders[:0], k.drifts[:0], k.free[:0]
		clear(k.number)
	}
}

func (k *keys) fork(room *Room) {
	k.orders = copied(&room.orders, k.orders)
	for i := range k.orders {
		k.orders[i].entries = copied(&room.ranks, k.orders[i].entries)
	}
	k.drifts, k.free = slices.Clone(k.drifts), slices.Clone(k.free)
	k.number = maps.Clone(k.number)
}

// putKey puts a child into the order of its drift.
func (ord *orders) putKey(in *inner, id int32) {
	p, at := &ord.tree.pools[id], ord.setting(in)
	t := in.as.keyed.Terms(p, at)
	p.seat.tie, p.seat.drift = t.Tie, 0
	if in.as.drifter != nil {
		p.seat.drift = in.keys.of(in.as.drifter.Drift(p, at))
	}
	in.keys.orders[p.seat.drift].push(rank{place{in.ranked(&t), t.Tie}, id}, ord)
	ord.standApart(in, id)
}

// setKey recomputes the key of a child in an order.
func (ord *orders) setKey(in *inner, id int32) {
	p, at := &ord.tree.pools[id], ord.setting(in)
	i := int(ord.places[inKeyOrder][id])
	if in.as.drifter != nil {
		if to := in.keys.of(in.as.drifter.Drift(p, at)); to != p.seat.drift {
			in.keys.remove(p.seat.drift, i, ord)
			ord.putKey(in, id)
			return
		}
	}
	t := in.as.keyed.Terms(p, at)
	o, to := &in.keys.orders[p.seat.drift], place{in.ranked(&t), t.Tie}
	if to != o.entries[i].place {
		p.seat.tie = t.Tie
		o.set(i, to, ord)
	}
	ord.standApart(in, id)
}

// setting returns the numbers that the children of a pool share in a comparison.
func (ord *orders) setting(in *inner) Setting {
	at := ord.site.instant
	at.Days = ord.tree.days
	at.Weights, at.Above, at.Top, at.held = in.counted.value(), &ord.tree.pools[in.id], in.id == int32(Root), in.held
	if in.deficits != nil {
		for _, d := range in.deficits.of {
			d.Advance(at.Seconds)
		}
		at.debts, at.capacities = in.deficits.of, ord.dominants.capacity
	}
	if in.as.allot != nil {
		at.Open, at.Loans = in.allotting.open.value(), in.allotting.loaned.value()+float64(ord.site.room())
	}
	return at
}

// byMain reports whether deficits are counted in several resources.
func (ord *orders) byMain() bool { return ord.owes && len(ord.dominants.resources) > 1 }

// settingNow is the setting of a choice: if only one resource has room, it compares the children that could start
// tasks in that resource.
func (ord *orders) settingNow(in *inner) Setting {
	at := ord.setting(in)
	if m := ord.dominants.sole; m > 0 && in.deficits != nil && in.standsIn(m-1) {
		at.main = m
	}
	return at
}

// A child with work for several dominant resources has a place in an order for each. If only one resource has room,
// its orders decide: a pool with a deficit in map slots must neither take a reduce slot instead nor leave it to
// others.

// standApart updates the places of a child in the orders of its further dominant resources.
func (ord *orders) standApart(in *inner, id int32) {
	if !ord.byMain() || in.deficits == nil {
		return
	}
	p := &ord.tree.pools[id]
	for m := int8(1); int(m) <= len(ord.dominants.drifts); m++ {
		wants := p.seat.in && m != p.seat.dominant && ord.dominants.readyIn(id, int(m)) > 0
		place := ord.places[inMainOrder+m-1][id]
		if !wants && place < 0 {
			continue
		}
		k := in.deficits.keysOf(m)
		if !wants {
			k.remove(ord.dominants.drifts[m-1][id], int(place), ord)
			continue
		}
		ord.standIn(in, k, id, m, place)
	}
}

// standIn adds a child to the order of its drift in a dominant resource, or updates its place there.
func (ord *orders) standIn(in *inner, k *keys, id int32, m int8, i int32) {
	p, at := &ord.tree.pools[id], ord.setting(in)
	at.main = m + 1
	t, to := in.as.keyed.Terms(p, at), k.of(in.as.drifter.Drift(p, at))
	drift := &ord.dominants.drifts[m-1][id]
	if i >= 0 && *drift == to {
		k.orders[to].set(int(i), place{in.ranked(&t), p.seat.tie}, ord)
		return
	}
	if i >= 0 {
		k.remove(*drift, int(i), ord)
	}
	*drift = to
	k.orders[to].push(rank{place{in.ranked(&t), p.seat.tie}, id}, ord)
}

// placeDominant makes room for the places of pools in the orders of further dominant resources.
func (ord *orders) placeDominant() {
	for len(ord.dominants.drifts) < len(ord.dominants.resources)-1 {
		ord.dominants.drifts = append(ord.dominants.drifts, make([]int32, len(ord.tree.pools)))
		ord.places = append(ord.places, slices.Repeat([]int32{-1}, len(ord.tree.pools)))
	}
}

// settingOf is settingNow for one child. A child without work for the free resource is compared in its own dominant
// resource.
func (ord *orders) settingOf(in *inner, id int32) Setting {
	at := ord.settingNow(in)
	if m := int(at.main) - 1; m >= 0 && ord.dominants.readyIn(id, m) == 0 {
		at.main = 0
	}
	return at
}

// keysOf returns the orders of a dominant resource other than the first.
func (o *deficits) keysOf(m int8) *keys {
	for len(o.keys) < int(m) {
		k := newKeys(true)
		k.by = inMainOrder + int8(len(o.keys))
		o.keys = append(o.keys, k)
	}
	return &o.keys[m-1]
}

func (o *deficits) clearKeys() {
	if o == nil {
		return
	}
	for m := range o.keys {
		o.keys[m].clear()
	}
}
