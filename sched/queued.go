package sched

import "math"

// A node may lead to another queue, where its tasks wait for their turn. Such a task occupies its room on the node
// while it is there, and counts as running in the holdings and in the expectation of its pool. But it receives no
// service: service counts from the beginning of the task, so a task that never begins receives none.

// accrue adds a task to the tasks that receive service since their start, or removes it.
func (v *overrides) accrue(r *run, sign float64) {
	v.site.events++
	v.charge(r.pool)
	had := r.price * v.site.at.Sub(r.started).Seconds()
	for id := r.pool; id >= 0; id = v.tree.pools[id].parent {
		p := &v.tree.pools[id]
		p.Account.Accrue(sign*r.price, r.start)
		if d := v.tree.daysOf(p); d != nil {
			d.Run(sign*r.price, v.site.instant.Unix)
			d.Add(sign*had, unix(r.started), v.site.instant.Unix)
		}
		for _, slot := range v.boosts.of[id] {
			b := &v.boosts.slots[slot]
			b.Had = math.Max(0, b.Had+sign*had)
		}
		v.tree.changed(id)
	}
}

// countQueued adds a task to the tasks that wait in other queues, or removes it.
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
