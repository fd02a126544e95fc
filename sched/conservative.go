package sched

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Conservative backfilling keeps room for every waiting task. If the order of the waiting tasks can change, all
// room is planned anew after each event, see inorder.go. If tasks go in order of arrival, a new task takes the
// earliest room that is left, and moves no other. When a task ends early or leaves, each waiting task moves to the
// earliest room that it finds while the others stay: none moves later.

// conservative is the rule [Conservative].
type conservative struct{}

func (conservative) name() string { return "conservative" }

func (conservative) plans() planning { return plansAll }

func (conservative) strict() bool { return false }

func (conservative) begin(e *departures) {
	if !e.updatePlan() || e.reserve.planStays() {
		return
	}
	b := &e.reserve.backfill
	b.events, b.behind = e.site.events, 0
	e.reserve.overrun(e.site.instantOf())
	came := e.reserve.unreserve()
	if !b.stable {
		e.reserve.holdAgain(came)
	}
}

func (conservative) settled(b *backfilling) bool { return b.plan != nil && !b.stable }

func (conservative) node(h *gates, at subRef, job int64) (cluster.NodeID, bool) {
	return firstFit{}.node(h, at, job)
}

// reopen does nothing here: the next step lets the sub-queues try again.
func (conservative) reopen(*gates) {}

// start starts the tasks whose planned start has come.
func (conservative) start(s *Scheduler, limit int, d *Decision) {
	if !s.reserve.backfill.stable {
		stepInOrder(s, limit, d)
		return
	}
	b := &s.reserve.backfill
	k := &b.keep
	if k.left {
		s.reserve.dropGone()
	}
	if k.relist || k.freed && (k.held || !b.stable) {
		s.relist()
	} else {
		s.reserve.listFresh()
	}
	s.reserve.fill(k.freed)
	k.fresh, k.freed, k.left, k.relist = k.fresh[:0], false, false, false
	s.placement.startDue(limit, d)
	if k.held && len(s.quotas.needs) > 0 {
		s.gates.parkUnpaid()
	}
}

// fill gives room to the jobs that have none and, if move is set, looks for earlier room for the others.
func (f *reserve) fill(move bool) {
	all, now := f.backfill.keep.all, f.site.instantOf()
	for i := range all {
		switch r := &all[i]; {
		case r.from == unplaced:
			f.keepRoom(r)
		case move && r.from > now:
			f.moveSooner(r)
		}
	}
}

// dropGone gives back the room of tasks that no longer wait.
func (f *reserve) dropGone() {
	b := &f.backfill
	seen := map[int64]int32{}
	b.keep.all = slices.DeleteFunc(b.keep.all, func(r reserved) bool {
		seen[r.job]++
		if seen[r.job] <= f.queues.startsOf(r.job, r.at) {
			return false
		}
		if r.from != unplaced {
			f.holdRoom(&r, +1)
		}
		return true
	})
}

// listFresh adds new tasks to the list, in order of arrival.
func (f *reserve) listFresh() {
	k := &f.backfill.keep
	for _, w := range k.fresh {
		if f.site.deepEnough(len(k.all)) {
			k.held = true
			return
		}
		n := min(w.tasks, f.queues.startsOf(w.job, w.at))
		k.held = k.held || n < w.tasks
		r := f.queues.unplacedAt(w.at, w.job)
		i := len(k.all)
		for i > 0 && k.all[i-1].arrival > r.arrival {
			i--
		}
		for range n {
			k.all = slices.Insert(k.all, i, r)
		}
	}
}

// unlimited pretends that there are enough licenses for all tasks that could ever get theirs.
func (c *quotas) unlimited() {
	for i := range c.licenses {
		c.licenses[i].unlimited = true
	}
}

// relist orders the waiting jobs that may start as the policy would start them. A job does not lose kept room, even if
// it is now too far behind to be given new room.
func (s *Scheduler) relist() {
	k := &s.reserve.backfill.keep
	kept := map[int64][]reserved{}
	for _, r := range k.all {
		if r.from != unplaced {
			kept[r.job] = append(kept[r.job], r)
		}
	}
	before, listed, more := k.all, map[int64]int32{}, false
	k.all = nil
	visitInOrder(s, func(job int64, at subRef) bool {
		if more = s.site.deepEnough(len(k.all)); more {
			return false
		}
		listed[job]++
		if have := kept[job]; len(have) > 0 && have[0].at == at {
			k.all = append(k.all, have[0])
			kept[job] = have[1:]
		} else {
			k.all = append(k.all, s.queues.unplacedAt(at, job))
		}
		return true
	})
	for _, r := range before {
		have := kept[r.job]
		if len(have) == 0 || !have[0].same(&r) {
			continue
		}
		kept[r.job] = have[1:]
		if more && listed[r.job] < s.queues.startsOf(r.job, r.at) {
			listed[r.job]++
			k.all = append(k.all, r)
		} else {
			s.reserve.holdRoom(&r, +1)
		}
	}
	k.held = s.site.tasksIn(k.all) < s.tree.pools[Root].Waiting
}

// nextKept is the next planned start, zero if there is none. A task that should have started by now waits for an
// event. If the order can change, all tasks do.
func (f *reserve) nextKept() time.Time {
	if f.site.plans != plansAll || !f.backfill.stable {
		return time.Time{}
	}
	next, now := int64(cluster.Forever), f.site.instantOf()
	for _, r := range f.backfill.keep.all {
		if r.from > now {
			next = min(next, r.from)
		}
	}
	if next == cluster.Forever {
		return time.Time{}
	}
	return time.Unix(0, next)
}
