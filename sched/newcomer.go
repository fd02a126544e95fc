package sched

// If only new jobs came since the plan was made, the plan stays until one of them can start. A job that fits
// nowhere now cannot start, whatever its place in the order. A single job that finds room now behind all planned
// tasks would also find it at an earlier place, so it starts. As a result, plans are made when tasks end, not for
// each submitted job.

// planStays reports whether the plan stays unchanged although jobs came.
func (f *reserve) planStays() bool {
	b := &f.backfill
	k := &b.keep
	p := &k.inOrder
	if b.stable || k.relist || b.unfinished || b.patience.held.job != 0 || b.events+p.additions != f.site.events {
		return false
	}
	f.overrun(f.site.instantOf())
	for _, w := range k.fresh[p.seen:] {
		n := f.queues.startsOf(w.job, w.at)
		if n == 0 || !f.site.cluster.Room(f.queues.sub(w.at).key) {
			continue
		}
		if n > 1 || len(k.fresh) > 1 || !f.fitsBehind(w) {
			return false
		}
	}
	p.seen = len(k.fresh)
	return true
}

// fitsBehind reports whether a new job has room now behind all planned tasks, and keeps it. If a pool has limits,
// or a job needs licenses, the order decides which job gets them first; then fitsBehind returns false.
func (f *reserve) fitsBehind(w waiting) bool {
	sub := f.queues.sub(w.at)
	if f.quotas.needsOf(sub.key) != nil {
		return false
	}
	for id := f.queues.all[w.at.queue].pool; id >= 0; id = f.tree.pools[id].parent {
		if f.tree.limits(id) != nil {
			return false
		}
	}
	r := f.queues.unplacedAt(w.at, w.job)
	now := f.site.instantOf()
	if !f.keepBetween(&r, f.lengthAt(w.at), now, now+1) {
		return false
	}
	if !(beside{f}).sparesPlanned(&r) {
		f.holdRoom(&r, +1)
		return false
	}
	f.backfill.keep.inOrder.newcomer = r
	return true
}

// startNewcomer starts the new job in its kept room.
func (m *placement) startNewcomer(d *Decision) {
	k := &m.reserve.backfill.keep
	r := k.inOrder.newcomer
	k.inOrder.newcomer = reserved{}
	if m.startKept(&r, d) {
		k.fresh, k.inOrder.seen = k.fresh[:0], 0
	} else if r.job != 0 && r.from != unplaced {
		m.reserve.holdRoom(&r, +1)
	}
}
