package sched

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Conservative backfilling: every task that waits has room kept for it. Where the order of the
// waiting tasks changes, all room is planned anew when something has happened, see inorder.go.
// Where they go in order of arrival, a task that comes
// takes the earliest room that is left, and moves nobody. When a task ended before its
// time, or left, each moves to
// the earliest room that there is for it while the others stay: none moves later.

// stepConservative starts what room was kept for from now on.
func (s *Scheduler) stepConservative(limit int, d *Decision) {
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

// fill gives room to the jobs that have none, and, if some may move, looks for earlier room
// for the others.
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

// dropGone gives back the room of tasks that do not wait any more.
func (f *reserve) dropGone() {
	b := &f.backfill
	seen := map[int64]int32{}
	b.keep.all = slices.DeleteFunc(b.keep.all, func(r reserved) bool {
		seen[r.job]++
		if seen[r.job] <= f.lines.startsOf(r.job, r.at) {
			return false
		}
		if r.from != unplaced {
			f.holdRoom(&r, +1)
		}
		return true
	})
}

// listFresh puts the tasks that came into the list, in order of arrival.
func (f *reserve) listFresh() {
	k := &f.backfill.keep
	for _, w := range k.fresh {
		if f.site.deepEnough(len(k.all)) {
			k.held = true
			return
		}
		n := min(w.tasks, f.lines.startsOf(w.job, w.at))
		k.held = k.held || n < w.tasks
		r := f.lines.unplacedAt(w.at, w.job)
		i := len(k.all)
		for i > 0 && k.all[i-1].arrival > r.arrival {
			i--
		}
		for range n {
			k.all = slices.Insert(k.all, i, r)
		}
	}
}

// unlimited lets there be licences for all tasks that could ever have theirs.
func (c *quotas) unlimited() {
	for i := range c.licenses {
		c.licenses[i].unlimited = true
	}
}

// relist orders the waiting jobs that may start as the policy would start
// them. Room that is kept stays kept, also for jobs that are further behind by now than room
// is looked for.
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
	visitInOrder(s, func(job int64, at lineRef) bool {
		if more = s.site.deepEnough(len(k.all)); more {
			return false
		}
		listed[job]++
		if have := kept[job]; len(have) > 0 && have[0].at == at {
			k.all = append(k.all, have[0])
			kept[job] = have[1:]
		} else {
			k.all = append(k.all, s.lines.unplacedAt(at, job))
		}
		return true
	})
	for _, r := range before {
		have := kept[r.job]
		if len(have) == 0 || !have[0].same(&r) {
			continue
		}
		kept[r.job] = have[1:]
		if more && listed[r.job] < s.lines.startsOf(r.job, r.at) {
			listed[r.job]++
			k.all = append(k.all, r)
		} else {
			s.reserve.holdRoom(&r, +1)
		}
	}
	k.held = s.site.tasksIn(k.all) < s.tree.pools[Root].Waiting
}

// startSome starts the tasks that may start, by the rules of the placement. It stops nothing, so that it can be
// asked of a copy what would start in the room of tasks that are stopped.
func (s *Scheduler) startSome(limit int, d *Decision) {
	if s.placement.nothingNew() {
		return
	}
	if s.site.backfills() {
		s.departures.beginBackfill()
	}
	if s.site.cfg.Placement == Conservative {
		s.stepConservative(limit, d)
	} else {
		s.placement.drawAll(limit, d)
	}
	s.reserve.backfill.unfinished, s.placement.looked = d.More, s.site.events
}

// nextKept is when the next task has room, zero if there is none. One that should have it by
// now, and did not start, waits for something to happen. So do all where the order changes.
func (f *reserve) nextKept() time.Time {
	if !f.backfill.stable {
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
