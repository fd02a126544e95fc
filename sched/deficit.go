package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// Under a [DeficitPolicy] each dominant resource has its own deficits. (A resource is dominant if some task takes a
// larger fraction of this resource than of any other.) Map slots cannot replace reduce slots (HADOOP-3746). A child
// is compared in a dominant resource of the tasks that it could start. If only tasks of one dominant resource have
// room, it is that resource. In all other cases it is the child's first dominant resource.

// mainOf is the index of a key's dominant resource.
func (ord *orders) mainOf(key cluster.Key) int8 {
	for len(ord.dominants.of) <= int(key) {
		ord.dominants.of = append(ord.dominants.of, ord.findMain(cluster.Key(len(ord.dominants.of))))
	}
	return ord.dominants.of[key]
}

func (ord *orders) findMain(key cluster.Key) int8 {
	capacity, _ := ord.site.cluster.Capacity()
	main, part := 0, 0.0
	for r, n := range ord.site.cluster.Request(key) {
		if r < len(capacity) && capacity[r] > 0 && float64(n)/float64(capacity[r]) > part {
			main, part = r, float64(n)/float64(capacity[r])
		}
	}
	i := slices.Index(ord.dominants.resources, main)
	if i < 0 {
		i = len(ord.dominants.resources)
		ord.dominants.resources = append(ord.dominants.resources, main)
		ord.dominants.stale = true
	}
	return int8(i)
}

// measureDominant recomputes the dominant resources after the cluster changed. If one changed, the ready tasks must
// be counted again.
func (ord *orders) measureDominant() {
	were := ord.dominants.of
	ord.dominants.of = nil
	capacity, _ := ord.site.cluster.Capacity()
	if len(ord.dominants.resources) == 0 {
		ord.dominants.resources = []int{0}
	}
	for key := range ord.site.cluster.Keys() {
		ord.mainOf(cluster.Key(key))
	}
	if len(were) > len(ord.dominants.of) || !slices.Equal(were, ord.dominants.of[:len(were)]) {
		ord.dominants.stale = true
	}
	ord.dominants.capacity = make([]float64, len(ord.dominants.resources))
	for i, r := range ord.dominants.resources {
		if r < len(capacity) {
			ord.dominants.capacity[i] = float64(capacity[r])
		}
	}
	for i := range ord.tree.inners {
		ord.rateDeficits(&ord.tree.inners[i])
	}
}

// rateDeficits sets the rate that a pool divides, in each dominant resource.
func (ord *orders) rateDeficits(in *inner) {
	if in.deficits == nil {
		return
	}
	for m, d := range in.deficits.of {
		d.Advance(ord.site.seconds())
		d.SetRate(ord.divided(in, m))
	}
	ord.redrift(in)
}

// divided is the amount of a dominant resource that a pool divides: the root divides the capacity, other pools the
// amount that they run.
func (ord *orders) divided(in *inner, m int) float64 {
	if in.id == int32(Root) && m < len(ord.dominants.capacity) {
		return ord.dominants.capacity[m]
	}
	return in.deficits.runs[m]
}

// settleClaim passes the claim of a child on a dominant resource, and the change of its running amount, to the
// deficits.
func (ord *orders) settleClaim(in *inner, id int32, m int, running float64) {
	in.deficits.grow(len(ord.dominants.resources), ord.site.seconds())
	d := in.deficits.of[m]
	d.Advance(ord.site.seconds())
	if running != 0 {
		in.deficits.runs[m] += running
		d.Run(int(ord.tree.pools[id].seat.kid), running)
	}
	ord.setDeficit(in, id, m)
	ord.redrift(in)
}

// setDeficit passes the minimum of a child, and the most that it can use, to the deficits.
func (ord *orders) setDeficit(in *inner, id int32, m int) {
	p, r := &ord.tree.pools[id], ord.dominants.resources[m]
	c := &ord.claims[m][id]
	least, most := 0.0, c.running+c.could
	if l := ord.tree.limits(id); l != nil {
		if r < len(l.min) {
			least = float64(l.min[r])
		}
		if r < len(l.max) && l.max[r] >= 0 {
			most = min(most, float64(l.max[r]))
		}
	}
	d := in.deficits.of[m]
	d.Set(int(p.seat.kid), p.Weight, least, most)
	d.SetRate(ord.divided(in, m))
}

// redrift moves children whose deficits now grow differently to their new places. This includes the child of the
// present event, because additional work for a pool that already waits is not settled.
func (ord *orders) redrift(in *inner) {
	for _, d := range in.deficits.of {
		for _, kid := range d.Changed() {
			if id := in.kids[kid]; ord.tree.pools[id].seat.in && ord.places[inKeyOrder][id] >= 0 && !ord.deferred {
				ord.setKey(in, id)
			}
		}
	}
}

func (o *deficits) grow(dominants int, at float64) {
	for len(o.of) < dominants {
		o.of = append(o.of, usage.NewDeficits(at))
		o.runs = append(o.runs, 0)
	}
}

func (o *deficits) fork(room *Room) *deficits {
	if o == nil {
		return nil
	}
	f := &deficits{runs: slices.Clone(o.runs)}
	for _, d := range o.of {
		f.of = append(f.of, d.Clone())
	}
	f.keys = slices.Clone(o.keys)
	for m := range f.keys {
		f.keys[m].fork(room)
	}
	return f
}

// countDeficits recomputes the claims of children from scratch; it does not change their deficits.
func (g *running) countDeficits() {
	g.orders.owes, g.orders.dominants.stale = false, false
	for i := range g.tree.inners {
		in := &g.tree.inners[i]
		if in.deficits == nil {
			continue
		}
		g.orders.owes = true
		in.deficits.grow(max(1, len(g.orders.dominants.resources)), g.site.seconds())
		clear(in.deficits.runs)
	}
	if !g.orders.owes {
		return
	}
	g.orders.measureDominant()
	g.orders.placeDominant()
	g.orders.dominants.stale = false
	g.countClaims()
	for i := range g.tree.inners {
		g.orders.recountDeficits(&g.tree.inners[i])
	}
	g.queues.countReady()
}

func (ord *orders) recountDeficits(in *inner) {
	if in.deficits == nil {
		return
	}
	in.deficits.grow(len(ord.dominants.resources), ord.site.seconds())
	for m, d := range in.deficits.of {
		d.Advance(ord.site.seconds())
		for kid, id := range in.kids {
			in.deficits.runs[m] += ord.claims[m][id].running
			// Skip an unchanged child: counting must not change an order by rounding.
			if change := ord.claims[m][id].running - d.Running(kid); change != 0 {
				d.Run(kid, change)
			}
		}
		for _, id := range in.kids {
			ord.setDeficit(in, id, m)
		}
		d.Changed()
	}
}

// countReady counts ready sub-queues by dominant resource, for pools that are compared in more than one resource.
func (w *queues) countReady() {
	for i := range w.tree.pools {
		w.tree.pools[i].seat.dominant = 0
	}
	w.orders.dominants.ready = nil
	if len(w.orders.dominants.resources) < 2 {
		return
	}
	for i := range w.all {
		q := &w.all[i]
		for k := range q.subs() {
			if sub := q.sub(k); sub.ready() {
				w.orders.readied(q.pool, sub.key, 1)
			}
		}
	}
}

// soleMain returns the dominant resource of all tasks that could start now; -1 if there are several, or none.
func (w *queues) soleMain() int {
	if !w.orders.byMain() {
		return -1
	}
	sole := -1
	for _, key := range w.readyKeys.active {
		m := int(w.orders.mainOf(key))
		if m == sole || !w.site.cluster.Room(key) {
			continue
		}
		if sole >= 0 {
			return -1
		}
		sole = m
	}
	return sole
}

// readied counts a sub-queue that became ready, or is no longer ready.
func (ord *orders) readied(id int32, key cluster.Key, n int32) {
	d := &ord.dominants
	if !ord.owes || len(d.resources) < 2 || ord.deferred && n < 0 {
		return
	}
	m := ord.mainOf(key)
	for len(d.ready) <= int(m) {
		d.ready = append(d.ready, make([]int32, len(ord.tree.pools)))
	}
	for ; id >= 0; id = ord.tree.pools[id].parent {
		d.ready[m][id] += n
		if main := slices.IndexFunc(d.ready, func(of []int32) bool { return of[id] > 0 }); main >= 0 {
			ord.tree.pools[id].seat.dominant = int8(main)
		}
	}
}

// readyIn is the number of ready sub-queues of a pool with a dominant resource.
func (d *dominants) readyIn(id int32, m int) int32 {
	if m >= len(d.ready) {
		return 0
	}
	return d.ready[m][id]
}
