package sched

// compareClaims compares the used, wanted and usable amounts of pools, if some pool counts deficits.
func (a *recounter) compareClaims() {
	s := a.s
	if !s.orders.owes || s.orders.dominants.stale {
		return
	}
	all := a.claims()
	for id := 1; id < len(all); id++ {
		for m, c := range all[id] {
			name, kept := s.site.cluster.Resource(s.orders.dominants.resources[m]), claimed{}
			if id < len(s.orders.claims[m]) {
				kept = s.orders.claims[m][id]
			}
			a.same(int32(id), name+" that it has", kept.running, c.running, 0)
			a.same(int32(id), name+" that it wants", kept.wanted, c.wanted, 0)
			a.same(int32(id), name+" that it could use", kept.could, c.could, 0)
		}
	}
	for i := range s.tree.inners {
		in := &s.tree.inners[i]
		if in.deficits == nil {
			continue
		}
		for m, d := range in.deficits.of {
			name, sum := s.site.cluster.Resource(s.orders.dominants.resources[m]), 0.0
			for k, kid := range in.kids {
				sum += all[kid][m].running
				a.same(kid, name+" that it receives", d.Running(k), all[kid][m].running, 0)
			}
			a.same(in.id, name+" of the pools below", in.deficits.runs[m], sum, 0)
		}
	}
}

// claims computes the claims of all pools, by dominant resource.
func (a *recounter) claims() [][]claimed {
	s := a.s
	all := make([][]claimed, len(s.tree.pools))
	for i := range all {
		all[i] = make([]claimed, len(s.orders.dominants.resources))
	}
	for i := range s.running.runs {
		r := &s.running.runs[i]
		for id := r.pool; r.used && id > 0; id = s.tree.pools[id].parent {
			for m, n := range s.orders.dominants.resources {
				all[id][m].running += float64(at64(s.site.cluster.Request(r.key), n))
			}
		}
	}
	for i := range s.queues.all {
		q := &s.queues.all[i]
		for k := range q.subs() {
			sub := q.sub(k)
			for id := range a.wanting(q, sub) {
				for m, n := range s.orders.dominants.resources {
					all[id][m].wanted += float64(sub.tasks * at64(s.site.cluster.Request(sub.key), n))
				}
			}
		}
	}
	s.tree.upwards(int32(Root), func(kid, above int32) {
		for m := range all[kid] {
			all[kid][m].could = a.couldUse(kid, s.orders.dominants.resources[m], &all[kid][m])
			all[above][m].below += all[kid][m].could
		}
	})
	return all
}

// couldUse is the part of the wanted amount of a resource that a pool could use besides the amount that it has.
func (a *recounter) couldUse(id int32, resource int, c *claimed) float64 {
	p, could := &a.s.tree.pools[id], c.wanted
	if p.inner >= 0 && c.below < could {
		could = c.below
	}
	l := a.s.tree.limits(id)
	if l != nil && resource < len(l.max) && l.max[resource] >= 0 && c.running+could > float64(l.max[resource]) {
		could = max(0, float64(l.max[resource])-c.running)
	}
	return could
}
