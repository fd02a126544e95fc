package sched

// What the running tasks of a pool are expected to receive follows from two numbers: what they
// are charged each second, and the mean length of the tasks of their leaf. The first is the sum
// of the prices with which the tasks were counted in, whether or not they have begun; the second
// changes whenever a task ends. So the product is computed anew after each change of either, and
// is counted in the pools above in place of the one before: no change of the mean, however many
// tasks it concerns, is counted more or less often than they are.

// expect counts tasks of a pool itself in, or out if the number is below 0, with what they are
// charged each second. Without a task it follows a change of the mean.
func (t *tree) expect(id, tasks int32, price float64) {
	e := &t.pools[id].expectation
	was := e.own
	e.tasks += tasks
	if e.price += price; e.tasks == 0 {
		e.price = 0 // what rounding left of prices that were not made here
	}
	e.own = e.price * t.ownMean(id)
	for at, own := id, e.own; at >= 0; at = t.pools[at].parent {
		p := &t.pools[at]
		p.expectation.all.add(own)
		p.expectation.all.add(-was)
		if p.Tasks == 0 {
			p.expectation.all = sum{}
		}
		p.Flight = p.expectation.all.value()
	}
}

// ownMean is the mean length that is expected of the tasks of a pool itself. For a leaf it is the mean
// of its tasks so far; for tasks that started before the pool had children it is the mean of that time.
func (t *tree) ownMean(id int32) float64 {
	id = t.learner(id)
	if in := t.pools[id].inner; in >= 0 && !t.pools[id].classed {
		return t.inners[in].mean
	}
	return t.pools[id].Mean
}

// learner is the pool from whose tasks is learned how long those of a leaf run: the leaf, or
// for a priority class the leaf that it is part of. A mean for each priority would know more of jobs that
// are alike in it; but then a job that is given another priority would change the expectation
// of its pool, and with it when the pool goes first.
func (t *tree) learner(leaf int32) int32 {
	if above := t.pools[leaf].parent; above >= 0 && t.pools[above].classed {
		return above
	}
	return leaf
}

// meanOf is the mean length of a leaf's tasks, in seconds. Before the first of them
// ended it is that of the nearest pool above, and at the very first a configured one.
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
