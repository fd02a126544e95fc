package sched

// Where nothing has happened since the plan was made but that jobs came, it stays as long as none of them
// can start: one that fits nowhere now cannot, wherever it stands in the order. One job that finds room now
// behind all that is planned would find it as well if it stood further in front, and starts. So the cost of
// a plan is paid when tasks end, and not for each job that is submitted.

// planStays reports whether the plan stays as it is, although jobs came.
func (f *reserve) planStays() bool {
	b := &f.backfill
	k := &b.keep
	p := &k.inOrder
	if b.stable || k.relist || b.unfinished || b.patience.held.job != 0 || b.events+p.additions != f.site.events {
		return false
	}
	f.overrun(f.site.instantOf())
	for _, w := range k.fresh[p.seen:] {
		n := f.lines.startsOf(w.job, w.at)
		if n == 0 || !f.site.cluster.Room(f.lines.line(w.at).key) {
			continue
		}
		if n > 1 || len(k.fresh) > 1 || !f.fitsBehind(w) {
			return false
		}
	}
	p.seen = len(k.fresh)
	return true
}

// fitsBehind reports whether a job that came has room now behind all that is planned, and keeps it. Where a
// pool has limits, or a job needs licenses, the order says which job gets them first.
func (f *reserve) fitsBehind(w waiting) bool {
	l := f.lines.line(w.at)
	if f.quotas.needsOf(l.key) != nil {
		return false
	}
	for id := f.lines.queues[w.at.queue].pool; id >= 0; id = f.tree.pools[id].parent {
		if f.tree.limits(id) != nil {
			return false
		}
	}
	r := f.lines.unplacedAt(w.at, w.job)
	now := f.site.instantOf()
	if !f.keepBetween(&r, f.lengthAt(w.at), now, now+1) {
		return false
	}
	f.backfill.keep.inOrder.newcomer = r
	return true
}

// startNewcomer starts the job that came, in the room that is kept for it.
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
