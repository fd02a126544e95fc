package sched

import (
	"math"
	"slices"
)

// Entitlements computes for every pool its share of the whole, and what the ideal
// fluid scheduler would give it now. For the share, those siblings count that the
// configuration names or that have work. It takes time in the number of pools.
//
// The fluid fills the tree from the top ("hierarchical water-filling"): each pool
// divides what it has by [share.Divide] among those below. The pools
// below a pool bound what it can take, and it is sure of at least as much as they are
// together; so the leaves together have the lesser of the capacity and of what
// could run, and nothing is given to a pool whose maxima further down cannot use it, nor what
// its tasks cannot use because of their widths.
func (v View) Entitlements() []Entitlement {
	f := newFilling(&v.s.site, &v.s.tree, &v.s.lines)
	f.pack(&v.s.running)
	return f.entitle()
}

// IdleWhileDemand is how many units are idle although a task that nothing holds back
// would fit. After a step that is 0, unless the jobs start strictly in order.
func (v View) IdleWhileDemand() float64 {
	if !v.s.lines.somethingFits() {
		return 0
	}
	wanted := 0.0
	for i := range v.s.lines.queues {
		q := &v.s.lines.queues[i]
		for k := range q.lines() {
			l := q.line(k)
			if !l.ready() || !v.s.tree.openAbove(q.pool) {
				continue
			}
			if v.s.reserve.hasRoom(l) {
				wanted += float64(l.tasks) * v.s.site.cluster.Width(l.key)
			}
		}
	}
	_, free, _ := v.Capacity()
	return math.Min(wanted, float64(free[0]))
}

// OldestWaiting returns, for each pool, the id of the oldest job in and below it that has a
// waiting task; 0 is none.
func (v View) OldestWaiting() []int64 {
	oldest := make([]int64, len(v.s.tree.pools))
	note := func(id int32, job int64) {
		if job > 0 && (oldest[id] == 0 || job < oldest[id]) {
			oldest[id] = job
		}
	}
	for i := range v.s.lines.queues {
		q := &v.s.lines.queues[i]
		for k := range q.lines() {
			if l := q.line(k); l.fresh.jobs > 0 {
				note(q.pool, l.fresh.front().id)
			}
		}
	}
	for i := range v.s.lines.begun {
		if b := &v.s.lines.begun[i]; b.waiting > 0 {
			note(v.s.lines.queues[b.at.queue].pool, b.id)
		}
	}
	v.s.tree.upwards(int32(Root), func(kid, above int32) { note(above, oldest[kid]) })
	return oldest
}

// OldestJobs returns the ids of up to n jobs with waiting tasks, the oldest first. The first is
// the [View.OldestWaiting] of the root.
func (v View) OldestJobs(n int) []int64 {
	var oldest []int64
	note := func(id int64) (among bool) {
		at, _ := slices.BinarySearch(oldest, id)
		if at >= n {
			return false
		}
		oldest = slices.Insert(oldest, at, id)
		oldest = oldest[:min(n, len(oldest))]
		return true
	}
	for i := range v.s.lines.queues {
		q := &v.s.lines.queues[i]
		for k := range q.lines() {
			q.line(k).fresh.while(note)
		}
	}
	for i := range v.s.lines.begun {
		if b := &v.s.lines.begun[i]; b.waiting > 0 {
			note(b.id)
		}
	}
	return oldest
}
