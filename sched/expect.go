package sched

// The expected service of the running tasks of a pool is the product of two numbers: the charge of these tasks per
// second, and the mean length of the tasks of their leaf pool. The charge is the sum of the prices that the tasks
// were counted with, whether or not they have begun. The mean changes whenever a task ends. After each change of
// either number, the product is recomputed and replaces the previous one in the pools above. So a change of the
// mean counts exactly once for each task that it affects.

// expect adds tasks of the pool itself, with their charge per second, or removes them if the number is negative.
// With 0 tasks it only follows a change of the mean.
func (t *tree) expect(id, tasks int32, price float64) {
	e := &t.pools[id].expectation
	was := e.own
	e.tasks += tasks
	if e.price += price; e.tasks == 0 {
		e.price = 0 // drop the rounding error of prices from elsewhere
	}
	e.own = e.price * t.ownMean(id)
	for at, own := id, e.own; at >= 0; at = t.pools[at].parent {
		p := &t.pools[at]
		if p.inner < 0 { // no pool below has a part in it
			p.expectation.all, p.Flight = sum{high: own}, own
			continue
		}
		p.expectation.all.add(own)
		p.expectation.all.add(-was)
		if p.Tasks == 0 {
			p.expectation.all = sum{}
		}
		p.Flight = p.expectation.all.value()
	}
}

// ownMean is the expected mean length of the pool's own tasks. For a leaf pool this is the mean of its tasks so
// far. For an inner pool, its own tasks started before it had children, and their mean is the mean of that time.
func (t *tree) ownMean(id int32) float64 {
	id = t.learner(id)
	if in := t.pools[id].inner; in >= 0 && !t.pools[id].classed {
		return t.inners[in].mean
	}
	return t.pools[id].Mean
}

// learner is the pool whose mean length applies to a leaf pool: the leaf pool itself, or for a priority class the
// leaf pool that it is part of. Separate means per priority would fit similar jobs better. But then a change of a
// job's priority would change the expectation of its pool, and with it the order of the pools.
func (t *tree) learner(leaf int32) int32 {
	if above := t.pools[leaf].parent; above >= 0 && t.pools[above].classed {
		return above
	}
	return leaf
}

// meanOf is the mean length of a leaf pool's tasks, in seconds. Until the first of them has ended, it is the mean
// of the nearest pool above, or else the configured length.
func (t *tree) meanOf(leaf int32) float64 {
	id := t.learner(leaf)
	if p := &t.pools[id]; p.Seen > 0 || p.Tasks > 0 {
		return p.Mean
	}
	for id = t.pools[id].parent; id >= 0; id = t.pools[id].parent {
		if t.pools[id].Seen > 0 {
			return t.pools[id].Mean
		}
	}
	return t.site.cfg.TaskSeconds
}
