package sched

import (
	"math"

	"github.com/fairlead/fairlead/cluster"
)

// Entitlements computes for every pool its share of the cluster, and the units that the ideal fluid scheduler would
// give it now. For the share, siblings count if the configuration names them or they have work. Its cost is
// proportional to the number of pools.
//
// The fluid fills the tree from the top ("hierarchical water-filling"): each pool divides its units by
// [share.Divide] among its children. The children of a pool bound the units that it can take, and guarantee it at
// least the sum of their guarantees. So the leaf pools together get the lesser of the capacity and the usable
// demand. No pool gets units that it cannot use because of maxima further down or because of the widths of its
// tasks.
func (v View) Entitlements() []Entitlement {
	f := newFilling(&v.s.site, &v.s.tree, &v.s.queues)
	f.pack(&v.s.running)
	return f.entitle()
}

// IdleWhileDemand is the number of units that are idle although a task without a closed gate would fit. After a
// step it is 0, unless jobs start strictly in order.
func (v View) IdleWhileDemand() float64 {
	if !v.s.queues.somethingFits() {
		return 0
	}
	wanted := 0.0
	for i := range v.s.queues.all {
		q := &v.s.queues.all[i]
		for k := range q.subs() {
			sub := q.sub(k)
			if !sub.ready() || !v.s.tree.openAbove(q.pool) {
				continue
			}
			if v.s.reserve.hasRoom(sub) {
				wanted += float64(sub.tasks) * v.s.site.cluster.Width(sub.key)
			}
		}
	}
	_, free, _ := v.Capacity()
	return math.Min(wanted, float64(free[0]))
}

// OldestWaiting returns, for each pool, the id of the oldest job in and below it with a waiting task; 0 is none.
func (v View) OldestWaiting() []int64 {
	oldest := make([]int64, len(v.s.tree.pools))
	note := func(id int32, job int64) {
		if job > 0 && (oldest[id] == 0 || job < oldest[id]) {
			oldest[id] = job
		}
	}
	for i := range v.s.queues.all {
		q := &v.s.queues.all[i]
		for k := range q.subs() {
			if sub := q.sub(k); sub.fresh.jobs > 0 {
				note(q.pool, sub.fresh.front().id)
			}
		}
	}
	for i := range v.s.queues.begun {
		if b := &v.s.queues.begun[i]; b.waiting > 0 {
			note(v.s.queues.all[b.at.queue].pool, b.id)
		}
	}
	v.s.tree.upwards(int32(Root), func(kid, above int32) { note(above, oldest[kid]) })
	return oldest
}

// WaitingJobs visits the jobs with waiting tasks, sub-queue by sub-queue. If visit returns false, it leaves out the
// rest of the sub-queue, whose jobs all have this key and later ids. Jobs that have begun are visited last.
func (v View) WaitingJobs(visit func(key cluster.Key, job int64) (more bool)) {
	for i := range v.s.queues.all {
		q := &v.s.queues.all[i]
		for k := range q.subs() {
			sub := q.sub(k)
			sub.fresh.while(func(id int64) bool { return visit(sub.key, id) })
		}
	}
	for i := range v.s.queues.begun {
		if b := &v.s.queues.begun[i]; b.waiting > 0 {
			visit(v.s.queues.all[b.at.queue].sub(int(b.at.sub)).key, b.id)
		}
	}
}
