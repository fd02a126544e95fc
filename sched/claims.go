package sched

import "github.com/fairlead/fairlead/cluster"

// Under a [DeficitPolicy] a pool claims a part of each dominant resource. The claim is the amount that its running
// tasks use, and the amount that its waiting tasks could use within its own maximum and the maxima of the pools
// below it. An ideal scheduler could not start more, either. If a pool claimed more than the pools below it can
// take, it would be entitled to slots that it cannot use. Its siblings would not get their shares of the rest.

// claimed is the claim of a pool on a dominant resource.
type claimed struct {
	running float64 // used by tasks in and below the pool
	wanted  float64 // requested by the waiting tasks that the pool wants, see queue.bar
	below   float64 // sum of could over the child pools
	could   float64 // part of wanted that the maxima allow
}

// could computes the amount of a dominant resource that the waiting tasks of a pool could use.
func (ord *orders) could(id int32, m int) float64 {
	p, c := &ord.tree.pools[id], &ord.claims[m][id]
	could := c.wanted
	if p.inner >= 0 {
		could = min(could, c.below)
	}
	if l, r := ord.tree.limits(id), ord.dominants.resources[m]; l != nil && r < len(l.max) && l.max[r] >= 0 {
		could = min(could, max(0, float64(l.max[r])-c.running))
	}
	return could
}

// need adds running and wanted tasks with a key to a pool and the pools above it; wanted tasks only up to the bar.
func (ord *orders) need(id, bar int32, key cluster.Key, running, wanted float64) {
	if !ord.owes || ord.deferred {
		return
	}
	ord.mainOf(key)
	ord.growClaims()
	request := ord.site.cluster.Request(key)
	for m, r := range ord.dominants.resources {
		if r < len(request) && request[r] > 0 {
			ord.needOf(m, id, bar, running*float64(request[r]), wanted*float64(request[r]))
		}
	}
}

// needOf does so for one dominant resource. It continues above the bar while the usable amount of the pool below
// changes.
func (ord *orders) needOf(m int, id, bar int32, running, wanted float64) {
	for below := 0.0; id > 0; id = ord.tree.pools[id].parent {
		if id == bar {
			wanted = 0
		}
		if running == 0 && wanted == 0 && below == 0 {
			return
		}
		c := &ord.claims[m][id]
		c.running += running
		c.wanted += wanted
		c.below += below
		could := ord.could(id, m)
		below, c.could = could-c.could, could
		if in := ord.tree.parentOf(id); in.deficits != nil && (running != 0 || below != 0) {
			ord.settleClaim(in, id, m, running)
		}
	}
}

// needBelow counts the wanted tasks of a leaf pool that took over the waiting tasks of its parent, among its
// siblings. Nothing changes above.
func (w *queues) needBelow(leaf int32) {
	p, in, ord := &w.tree.pools[leaf], w.tree.parentOf(leaf), w.orders
	ord.dominants.stale = ord.dominants.stale || in.deficits != nil && !ord.deferred && !ord.owes
	owes := ord.owes && !ord.deferred
	if owes {
		ord.growClaims()
	}
	q := &w.all[p.queue]
	for i := range q.subs() {
		sub := q.sub(i)
		if q.bar(sub) == leaf {
			continue
		}
		w.addWanted(leaf, p.parent, sub.key, sub.tasks)
		if owes {
			ord.claim(leaf, p.parent, sub.key, 0, float64(sub.tasks))
		}
	}
	if !owes {
		return
	}
	above := &w.tree.pools[p.parent]
	p.seat.dominant = above.seat.dominant
	for _, of := range ord.dominants.ready {
		of[leaf] = of[p.parent]
	}
	for m := range ord.claims {
		could := ord.could(leaf, m)
		ord.claims[m][leaf].could, ord.claims[m][p.parent].below = could, could
		if in.deficits != nil {
			ord.settleClaim(in, leaf, m, 0)
		}
	}
}

// claim counts running and wanted tasks, but not how many of them the maxima allow.
func (ord *orders) claim(id, bar int32, key cluster.Key, running, wanted float64) {
	request := ord.site.cluster.Request(key)
	for ; id > 0; id = ord.tree.pools[id].parent {
		if id == bar {
			wanted = 0
		}
		for m, r := range ord.dominants.resources {
			if r < len(request) {
				c := &ord.claims[m][id]
				c.running += running * float64(request[r])
				c.wanted += wanted * float64(request[r])
			}
		}
	}
}

// countClaims computes all claims from scratch.
func (g *running) countClaims() {
	ord := g.orders
	ord.growClaims()
	for m := range ord.claims {
		clear(ord.claims[m])
	}
	for i := range g.runs {
		if r := &g.runs[i]; r.used {
			ord.claim(r.pool, r.pool, r.key, 1, 0)
		}
	}
	for i := range g.queues.all {
		q := &g.queues.all[i]
		for k := range q.subs() {
			sub := q.sub(k)
			ord.claim(q.pool, q.bar(sub), sub.key, 0, float64(sub.tasks))
		}
	}
	g.tree.upwards(int32(Root), func(kid, above int32) {
		for m := range ord.claims {
			c := &ord.claims[m][kid]
			c.could = ord.could(kid, m)
			ord.claims[m][above].below += c.could
		}
	})
}

// growClaims makes room for the claims of all pools on each dominant resource.
func (ord *orders) growClaims() {
	for len(ord.claims) < len(ord.dominants.resources) {
		ord.claims = append(ord.claims, nil)
	}
	for m, all := range ord.claims {
		if missing := len(ord.tree.pools) - len(all); missing > 0 {
			ord.claims[m] = append(all, make([]claimed, missing)...)
		}
	}
}
