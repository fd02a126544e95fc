package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// unplacedAt is a task, or a gang, of a job in a sub-queue without a planned start.
func (w *queues) unplacedAt(at subRef, job int64) reserved {
	sub := w.sub(at)
	r := reserved{job: job, at: at, arrival: w.arrivalOf(at, job), key: sub.key, from: unplaced}
	r.endless = sub.limit == 0
	return r
}

// waitingJob finds the job in its sub-queue, if the gate of the sub-queue is open.
func (w *queues) waitingJob(r *reserved) (subRef, head, bool) {
	at, h, waits := w.inSubQueue(r)
	return at, h, waits && w.sub(at).gate == noGate
}

// inSubQueue finds the job in its sub-queue.
func (w *queues) inSubQueue(r *reserved) (subRef, head, bool) {
	if b, begun := w.begunOf[r.job]; begun {
		j := &w.begun[b]
		return j.at, j.head(b), j.at == r.at && j.waiting > 0 && !j.capped()
	}
	ci, i, found := w.sub(r.at).fresh.find(r.job)
	if !found {
		return r.at, head{}, false
	}
	return r.at, w.sub(r.at).fresh.chunk(ci).entries[i].head(), true
}

// keepRoom keeps the earliest room, and reports whether there is any.
func (f *reserve) keepRoom(r *reserved) bool {
	return f.keepBetween(r, f.keptLength(r.at), f.site.instantOf(), f.keepsBefore())
}

// keepsBefore is the instant before which planned starts must lie.
func (f *reserve) keepsBefore() int64 {
	if w := f.site.cfg.Window; w > 0 {
		return f.site.instantOf() + int64(w)
	}
	return cluster.Forever
}

// keepBetween keeps the earliest room of a length that begins in [from, before).
func (f *reserve) keepBetween(r *reserved, length, from, before int64) bool {
	from, nodes, found := f.paidFrom(r.key, length, from, before)
	if found {
		r.from, r.to, r.nodes = from, from+length, nodes
		r.sure = f.isSure(r)
		f.holdRoom(r, -1)
	}
	return found
}

// paidFrom finds the first instant in [from, before) at which room and licenses are free for a length of
// time.
func (f *reserve) paidFrom(key cluster.Key, length, from, before int64) (int64, []cluster.NodeID, bool) {
	for {
		at, nodes, found := f.earliest(key, length, from, before)
		if !found {
			return 0, nil, false
		}
		if from, found = f.licensesFrom(key, length, at, before); !found {
			return 0, nil, false
		}
		if from == at {
			return at, nodes, true
		}
	}
}

// earliest finds the first instant in [from, before) at which nodes have room for a length of time.
func (f *reserve) earliest(key cluster.Key, length, from, before int64) (int64, []cluster.NodeID, bool) {
	if f.site.gangOf(key) > 0 {
		return f.backfill.plan.EarliestGang(key, length, from, before, nil)
	}
	at, node, found := f.earliestNode(key, length, from, before)
	if !found {
		return 0, nil, false
	}
	return at, f.alone(node), true
}

// earliestNode is earliest for one task. Under [EASY] with many nodes it searches only some of them, different ones
// each time, because the room of the first job later moves to nodes with ended tasks anyway.
func (f *reserve) earliestNode(key cluster.Key, length, from, before int64) (int64, cluster.NodeID, bool) {
	const many = 512
	n := len(f.site.cluster.Nodes())
	if f.site.plans != plansFirst || n <= 2*many {
		return f.backfill.plan.Earliest(key, length, from, before)
	}
	at, node, found := before, cluster.NodeID(0), false
	for k := 0; k < n && (k < many || !found); k++ {
		id := cluster.NodeID((int(f.site.events%uint64(n)) + k) % n)
		if t, sooner := f.backfill.plan.SoonerOn(id, key, length, from, at, -1); sooner {
			at, node, found = t, id, true
		}
	}
	return at, node, found
}

// alone returns the list of a single node. Such lists share one array, so that room for a single task needs no
// memory of its own.
func (f *reserve) alone(node cluster.NodeID) []cluster.NodeID {
	for n := len(f.single); n <= int(node); n++ {
		f.single = append(f.single, cluster.NodeID(n))
	}
	return f.single[node : node+1 : node+1]
}

// moveSooner moves a planned start to the earliest possible instant, if that is earlier.
func (f *reserve) moveSooner(r *reserved) {
	now, length, p := f.site.instantOf(), r.to-r.from, f.backfill.plan
	if len(r.nodes) > 1 || f.quotas.holdsLicense(r.key) {
		f.holdRoom(r, +1)
		if !f.keepBetween(r, length, now, r.from) {
			f.holdRoom(r, -1)
		}
		return
	}
	if t, node, sooner := p.Sooner(r.key, length, now, r.from, r.nodes[0]); sooner {
		f.moveRoom(r, t, node)
	}
}

// moveRoom moves the planned start of one task to another instant and node.
func (f *reserve) moveRoom(r *reserved, from int64, node cluster.NodeID) {
	f.holdRoom(r, +1)
	r.from, r.to, r.nodes = from, from+r.to-r.from, f.alone(node)
	r.sure = f.isSure(r)
	f.holdRoom(r, -1)
}

// holdRoom takes room out of the plan if sign is -1, and gives it back if sign is +1. For a job that has waited too
// long for its licenses it changes only the licenses.
func (f *reserve) holdRoom(r *reserved, sign int64) {
	from, to := r.from, r.until()
	if r.endless {
		f.backfill.promises.endless -= int(sign) * len(r.nodes)
	}
	for _, node := range r.nodes {
		f.planLicenses(r.key, sign, from, to)
		switch {
		case r.held && r.lacksLicense:
		case sign < 0:
			f.backfill.plan.Take(node, r.key, from, to)
		default:
			f.backfill.plan.Give(node, r.key, from, to)
		}
	}
}

// until is the end of the room; for held room the end is unknown.
func (r *reserved) until() int64 {
	if r.held {
		return cluster.Forever
	}
	return r.to
}

// tasks counts the tasks on each node.
func (r *reserved) tasks() map[cluster.NodeID]int {
	tasks := map[cluster.NodeID]int{}
	for _, id := range r.nodes {
		tasks[id]++
	}
	return tasks
}

// on reports whether some of the room is on a node.
func (r *reserved) on(id cluster.NodeID) bool { return slices.Contains(r.nodes, id) }

// same reports whether two planned starts are the same, for the same job.
func (r *reserved) same(x *reserved) bool {
	return r.job == x.job && r.at == x.at && r.from == x.from && slices.Equal(r.nodes, x.nodes)
}

// isThere reports whether the room is free now.
func (m *site) isThere(r *reserved) bool {
	if len(r.nodes) == 1 {
		return m.cluster.Fits(r.nodes[0], r.key)
	}
	for node, n := range r.tasks() {
		if m.cluster.FitNow(node, r.key) < n {
			return false
		}
	}
	return true
}

// came records new waiting tasks of a job.
func (f *reserve) came(job int64, at subRef, tasks int32) {
	b := &f.backfill
	if b.plan == nil || b.keep.relist {
		return
	}
	if !b.stable {
		b.keep.inOrder.additions++
		b.keep.fresh = append(b.keep.fresh, waiting{job, at, tasks})
		return
	}
	if f.site.gangOf(f.queues.sub(at).key) > 0 {
		if tasks = f.queues.startsOf(job, at); tasks == 0 {
			return // some tasks are not back yet
		}
	}
	b.keep.fresh = append(b.keep.fresh, waiting{job, at, tasks})
}

// keepFirst keeps room for the job that goes before all other jobs without room.
func (f *reserve) keepFirst(at subRef, job int64) {
	r := f.queues.unplacedAt(at, job)
	if !f.keepRoom(&r) {
		return
	}
	f.goesFirst(r)
}

// goesFirst records a job that goes before all other jobs without room, with its planned start.
func (f *reserve) goesFirst(r reserved) {
	over := f.isOver(&r)
	f.backfill.patience.looked(r.job, len(f.backfill.firsts) == 0)
	if over && f.backfill.patience.held.job == 0 {
		f.holdRoom(&r, +1)
		f.hold(&r)
		return
	}
	f.promise(&r)
	f.noteAhead(r)
}

// keepAhead keeps the planned room for a job that goes before all other jobs.
func (f *reserve) keepAhead(r reserved) {
	f.holdRoom(&r, -1)
	f.noteAhead(r)
}

// noteAhead records the kept room of a job that goes before all other jobs.
func (f *reserve) noteAhead(r reserved) {
	f.backfill.firsts = append(f.backfill.firsts, r)
	cluster.KeptOf(f.site.cluster).Add(r.nodes...)
}

// keptAhead returns the kept room that jobs with a key may not take: that of the first job with the same window, or
// without one; nil if there is none.
func (f *reserve) keptAhead(key cluster.Key) *reserved {
	b, window := &f.backfill, f.site.cluster.Window(key)
	for i := range b.firsts {
		if r := &b.firsts[i]; f.site.cluster.Window(r.key) == window {
			return r
		}
	}
	return nil
}

// ahead is the job whose kept room a starting job with the key leaves alone, and which the starting job therefore
// overtakes; 0 if there is none.
func (f *reserve) ahead(key cluster.Key) int64 {
	if r := f.keptAhead(key); r != nil {
		return r.job
	}
	return 0
}

// unplan gives back all planned room, before a new plan.
func (f *reserve) unplan() {
	k := &f.backfill.keep
	for i := range k.all {
		if k.all[i].from != unplaced {
			f.holdRoom(&k.all[i], +1)
		}
	}
	k.all, k.relist = k.all[:0], true
	f.backfill.promises.gap = false
	clear(k.inOrder.soonest)
}
