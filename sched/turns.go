package sched

import "time"

// rebuild recomputes all orders from scratch, after a change that may affect all keys.
func (u *turns) rebuild() {
	for i := range u.tree.pools {
		p := &u.tree.pools[i]
		p.seat.in, p.seat.belowMin = false, false
		for k := range u.orders.places {
			u.orders.places[k][i] = -1
		}
	}
	for i := range u.tree.inners {
		in := &u.tree.inners[i]
		in.open, in.belowMin, in.weights = 0, nil, sumTree{}
		in.keys.clear()
		in.deficits.clearKeys()
		in.arrivals.entries = in.arrivals.entries[:0]
		in.rising.entries, in.full.entries = in.rising.entries[:0], in.full.entries[:0]
	}
	if u.precedence.ranks != nil {
		u.precedence.ranks.fills.entries = u.precedence.ranks.fills.entries[:0]
	}
	u.site.events++
	u.orders.deferred, u.rebuilding = false, true
	u.running.countAll()
	u.placeBelow(int32(Root))
	u.rebuilding = false
}

// countAll recomputes from scratch the sums that tree.changed maintains.
func (g *running) countAll() {
	for i := range g.tree.inners {
		g.tree.inners[i].counted = sum{}
		if a := g.tree.inners[i].allotting; a != nil {
			a.fresh, a.open, a.loaned = false, sum{}, sum{}
		}
	}
	for i := range g.tree.pools {
		g.tree.pools[i].counted, g.tree.pools[i].over = false, 0
		g.tree.pools[i].Wanted = 0
		g.tree.changed(int32(i))
	}
	g.queues.countWanted()
	g.countDeficits()
	g.countHoldings()
}

// measure records the capacity of the cluster.
func (u *turns) measure() {
	u.site.events++
	capacity, _ := u.site.cluster.Capacity()
	u.tariff.capacity = float64(capacity[0])
	u.tariff.total(capacity)
	u.site.instant.Capacity = u.tariff.worth()
	if u.orders.owes {
		u.orders.measureDominant()
		u.meetDominant()
	}
}

// meetDominant recounts the deficits from scratch if an event brought the first task with a new dominant resource,
// or the first pool that counts deficits. From then on the resource is divided and has deficits.
func (u *turns) meetDominant() {
	if u.orders.dominants.stale && !u.orders.deferred {
		u.rebuild()
	}
}

// resized schedules the recomputation of priorities, which depend on the capacity: at once if there was no capacity
// before, otherwise soon, because nodes come and go in large numbers.
func (u *turns) resized() {
	switch {
	case u.precedence.ranks == nil:
	case u.precedence.ranks.capacityOf(0) == 0:
		u.renewNow()
	default:
		if soon := u.site.at.Add(time.Second); u.tree.renewal.at.IsZero() || soon.Before(u.tree.renewal.at) {
			u.tree.renewal.at = soon
		}
	}
}

// reclock makes all amounts refer to the present instant.
func (u *turns) reclock(halfLife time.Duration) {
	next, amount, instant := u.site.clock.Rebase(u.site.at, halfLife)
	for i := range u.tree.pools {
		p := &u.tree.pools[i]
		p.Account.Rebase(amount, instant)
		for k := range p.Own {
			p.Own[k] = amount(p.Own[k])
		}
	}
	for i := range u.tree.inners {
		u.tree.inners[i].clock = amount(u.tree.inners[i].clock)
	}
	for i := range u.running.runs {
		u.running.runs[i].start = instant(u.running.runs[i].start)
	}
	u.site.clock, u.site.now = next, next.At(u.site.at)
	u.site.setClock()
}

// renew recomputes all orders when a renewal is due, for all pools, not only for those with a renewal: rebuilding
// an order twice gives the same order.
func (u *turns) renew() {
	if u.tree.renewal.at.IsZero() || u.site.at.Before(u.tree.renewal.at) {
		return
	}
	u.tree.renewal = renewal{}
	u.tree.rollDays()
	for i := range u.tree.inners {
		u.tree.renewalOf(&u.tree.inners[i])
	}
	u.renewNow()
}

// renewNow recomputes all orders, and the usage in priorities.
func (u *turns) renewNow() {
	u.precedence.valueAll()
	u.rebuild()
}

// age advances the clock of ages, and moves jobs that have reached the maximum age.
func (u *turns) age() {
	r := u.precedence.ranks
	if r == nil || u.orders.deferred {
		return
	}
	r.now = r.at(since(u.site.at))
	for len(r.fills.entries) > 0 && r.fills.entries[0].key <= r.now {
		leaf := r.fills.entries[0].child
		r.fills.remove(0, u.orders)
		u.settle(leaf)
	}
}

// expectAgain updates the expectation of all priorities of a leaf pool after one of them has learned a length.
func (u *turns) expectAgain(leaf int32) {
	whole := u.tree.learner(leaf)
	if !u.tree.pools[whole].classed {
		return
	}
	u.tree.expect(whole, 0, 0)
	for _, kid := range u.tree.inners[u.tree.pools[whole].inner].kids {
		if u.tree.pools[kid].Tasks > 0 {
			u.tree.expect(kid, 0, 0)
			u.settle(kid)
		}
	}
}

// useAgain recomputes the usage of a leaf pool and of the pools above it.
func (u *turns) useAgain(leaf int32) {
	if u.precedence.ranks == nil || u.tree.pools[leaf].parent < 0 || !u.tree.parentOf(leaf).ranks {
		return
	}
	if p := u.tree.pools[leaf].parent; p != int32(Root) {
		u.useAgain(p)
	}
	if u.precedence.ranks.of[leaf].relative < 0 {
		u.precedence.value(leaf)
		return
	}
	u.precedence.use(leaf)
	if u.tree.pools[leaf].classed { // all its priority classes share its usage
		for _, kid := range u.tree.inners[u.tree.pools[leaf].inner].kids {
			u.precedence.use(kid)
			u.settle(kid)
		}
	}
}

// joins ends the privilege of pools that kept their place while a license or a rate held them back. They now have
// work that needs neither, and for that work they count as having been away.
func (u *turns) joins(leaf int32) {
	for id := leaf; id != int32(Root); id = u.tree.pools[id].parent {
		p := &u.tree.pools[id]
		if p.seat.kept.hopes() {
			continue
		}
		if in := u.tree.parentOf(id); p.seat.in && in.as.carrier != nil {
			if level := u.tree.level(in); in.as.carrier.Level(p, u.site.now) < level {
				in.as.carrier.Carry(p, level, u.site.now)
			}
		}
		p.seat.kept = noGate
		u.settle(id)
	}
}

// handOver gives the queue of a pool that became an inner pool to its child.
func (u *turns) handOver(queue, child int32) {
	c := &u.tree.pools[child]
	c.queue, u.queues.all[queue].pool = queue, child
	c.priority, c.isNew = u.tree.pools[c.parent].priority, u.tree.pools[c.parent].isNew
	u.tree.copyDown(c.parent, child)
	u.tree.changed(child)
	u.queues.needBelow(child)
	u.settle(child)
}
