package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// This file does conservative backfilling if the order of the waiting tasks can change. After each event, the policy
// orders the waiting tasks, and each takes the earliest room that the tasks before it leave. So a task that came early
// has no right to future room: if other tasks overtake it in the order, its planned start moves back. (Slurm's
// sched/backfill replans its queue in this way.)

// stepInOrder plans anew after an event, and starts the tasks that have room now.
func stepInOrder(s *Scheduler, limit int, d *Decision) {
	k := &s.reserve.backfill.keep
	if k.inOrder.newcomer.job != 0 {
		s.placement.startNewcomer(d)
	}
	if k.relist {
		s.placement.startHeld(d)
		listAnew(s)
	}
	s.placement.planInOrder(limit, d)
	if k.held && len(s.quotas.needs) > 0 {
		s.gates.parkUnpaid()
	}
}

// visitInOrder visits the waiting tasks that may start, in the order in which the policy would start them, each
// gang once, until visit returns false.
func visitInOrder(s *Scheduler, visit func(job int64, at subRef) bool) {
	f := s.forkToList(&s.reserve.backfill.keep.inOrder.room)
	f.quotas.unlimited()
	gangs := map[int64]bool{}
	(&Outlook{f}).oneByOne(func(st Start) bool {
		r := f.running.run(st.Run)
		if f.site.gangOf(r.key) > 0 {
			if gangs[st.Job] {
				return true
			}
			gangs[st.Job] = true
		}
		return visit(st.Job, s.growth.subFor(int32(st.Pool), r.ask()))
	})
}

// listAnew lists the tasks to plan room for.
func listAnew(s *Scheduler) {
	k := &s.reserve.backfill.keep
	k.relist, k.freed, k.left = false, false, false
	k.inOrder.next, k.inOrder.additions, k.inOrder.seen = 0, 0, 0
	k.all, k.fresh = k.all[:0], k.fresh[:0]
	visitInOrder(s, func(job int64, at subRef) bool {
		k.all = append(k.all, s.queues.unplacedAt(at, job))
		return !s.site.deepEnough(len(k.all))
	})
	k.held = s.site.tasksIn(k.all) < s.tree.pools[Root].Waiting
}

// planInOrder plans the unplanned tasks of the list, one after the other, and starts the tasks that have room now.
func (m *placement) planInOrder(limit int, d *Decision) {
	k := &m.reserve.backfill.keep
	left, i := k.inOrder.next, k.inOrder.next
	for ; i < len(k.all); i++ {
		if limit > 0 && len(d.Starts) >= limit {
			d.More = true
			break
		}
		if r := k.all[i]; m.planNext(&r, d) {
			k.all[left] = r
			left++
		}
	}
	k.inOrder.next = left
	k.all = append(k.all[:left], k.all[i:]...)
}

// planNext plans the next task, and starts it if it has room now. It reports whether the task stays in the list.
func (m *placement) planNext(r *reserved, d *Decision) bool {
	b := &m.reserve.backfill
	switch {
	case r.job == b.patience.held.job:
		return false // its room is held
	case !m.reserve.keepSoonest(r):
		return true
	case r.from > m.site.instantOf():
		if m.reserve.keptAhead(r.key) != nil {
			return true
		}
		m.reserve.goesFirst(*r)
		return false
	case m.startKept(r, d):
		return false
	case r.job != 0 && r.from == unplaced:
		b.keep.inOrder.soonest[m.reserve.spanOf(r)], b.promises.gap = cluster.Forever, true // it would take promised room
		return true
	}
	clear(b.keep.inOrder.soonest) // startKept may have given room back
	return r.job != 0
}

// keepSoonest keeps the earliest room behind all planned tasks, and reports whether there is any. A task never
// finds earlier room than the previous task with the same request. While nodes are held for a job, tasks without a
// time limit can only be planned to start now: see lengthAt.
func (f *reserve) keepSoonest(r *reserved) bool {
	p, now := &f.backfill.keep.inOrder, f.site.instantOf()
	of, before := f.spanOf(r), f.keepsBefore()
	if f.backfill.patience.held.job != 0 && r.endless {
		before = now + 1
	}
	if p.soonest == nil {
		p.soonest = map[span]int64{}
	}
	from := max(now, p.soonest[of])
	if from == now && f.keepNow(r) {
		return true
	}
	if from >= before || !f.keepBetween(r, f.keptLength(r.at), from, before) {
		p.soonest[of], f.backfill.promises.gap = cluster.Forever, true
		return false
	}
	p.soonest[of] = r.from
	return true
}

// keepNow keeps room that begins now for a task without a time limit while windows are coming: the task may begin on a
// node that the windows leave to it. After its predicted run time, it leaves the room before the windows to other
// tasks.
func (f *reserve) keepNow(r *reserved) bool {
	if !r.endless || !f.site.cluster.Windows().Any() || f.backfill.patience.held.job != 0 {
		return false
	}
	now, length := f.site.instantOf(), f.lengthAt(r.at)
	node, fits := f.placeBehind(r.key, length, 0)
	if !fits {
		return false
	}
	r.from, r.to, r.nodes = now, now+length, f.alone(node)
	if f.site.gangOf(r.key) > 0 {
		r.nodes = slices.Clone(f.hosts)
	}
	r.sure = f.isSure(r)
	f.holdRoom(r, -1)
	return true
}

// spanOf is the span of a task that would start now.
func (f *reserve) spanOf(r *reserved) span { return span{r.key, f.lengthAt(r.at), r.endless} }

// tasksIn is the number of tasks in a list.
func (m *site) tasksIn(all []reserved) (tasks int64) {
	for i := range all {
		tasks += m.atOnce(all[i].key)
	}
	return tasks
}

// parkUnpaid parks the sub-queues without a free license or token, and the ones of users who may run no more tasks, so
// that they try again when that changes.
func (h *gates) parkUnpaid() {
	for i := range h.queues.all {
		q := &h.queues.all[i]
		for k := range q.subs() {
			if sub := q.sub(k); sub.ready() {
				at := subRef{int32(i), int32(k)}
				_ = h.holds(byLicense, q.pool, at) || h.holds(byRate, q.pool, at) || h.holds(byUser, q.pool, at)
			}
		}
	}
}

// planShown returns the plan as it would be with the jobs that came since it was made, so that users also see
// planned starts of these.
func planShown(s *Scheduler) []reserved {
	p := &s.reserve.backfill.keep.inOrder
	if at := (moment{s.site.events, s.site.instantOf()}); p.shown == nil || p.shownAt != at {
		p.shown, p.shownFirst = planAll(s.Fork())
		p.shownAt = at
	}
	return p.shown
}

// planAll plans all tasks anew, and starts none. It also returns the first job without room now, 0 if nodes are held
// for another job.
func planAll(s *Scheduler) (all []reserved, first int64) {
	b := &s.reserve.backfill
	came := s.reserve.unreserve()
	s.reserve.overrun(s.site.instantOf())
	s.reserve.holdAgain(came)
	listAnew(s)
	for i := range b.keep.all {
		r := &b.keep.all[i]
		if r.job == b.patience.held.job || !s.reserve.keepSoonest(r) {
			continue
		}
		if first == 0 && b.patience.held.job == 0 && r.from > s.site.instantOf() {
			first = r.job
		}
	}
	return append(b.keep.all, b.firsts...), first
}
