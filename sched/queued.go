package sched

import "math"

// A node may be the way into another queue: tasks that it is given wait there for their turn. Such
// a task has its room on the node, as long as it is there, and counts as running in the holdings
// and in the expectation of its pool. But it receives nothing: service
// is counted from its beginning on, and if it never begins there was none.

// accrue counts a task among the tasks that receive service since they started, or out of them.
func (v *overrides) accrue(r *run, sign float64) {
	v.site.events++
	v.charge(r.pool)
	had := r.price * v.site.at.Sub(r.started).Seconds()
	for id := r.pool; id >= 0; id = v.tree.pools[id].parent {
		p := &v.tree.pools[id]
		p.Account.Accrue(sign*r.price, r.start)
		if p.Days != nil {
			p.Days.Run(sign*r.price, v.site.instant.Unix)
			p.Days.Add(sign*had, unix(r.started), v.site.instant.Unix)
		}
		for _, slot := range v.boosts.of[id] {
			b := &v.boosts.slots[slot]
			b.Had = math.Max(0, b.Had+sign*had)
		}
		v.tree.changed(id)
	}
}

// countQueued counts a task in or out of the tasks that wait in other queues.
func (t *tree) countQueued(r *run, sign int32) {
	if t.queued == nil {
		t.queued = map[int32]inQueue{}
	}
	width := t.site.cluster.Width(r.key)
	for id := r.pool; id >= 0; id = t.pools[id].parent {
		q := t.queued[id]
		q.tasks += sign
		if q.units += float64(sign) * width; q.tasks == 0 {
			delete(t.queued, id)
			continue
		}
		t.queued[id] = q
	}
}
