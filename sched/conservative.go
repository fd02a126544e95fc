package sched

import (
	"iter"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Conservative backfilling: every task that waits has room kept for it. A task that comes
// takes the earliest room that is left, and moves nobody. When a task ended before its
// time, or left, those that wait are taken in the order of the policy, and each moves to
// the earliest room that there is for it while the others stay: none moves later.

// keeper is the room that is kept, in the order of the policy when it was last asked.
type keeper struct {
	all    []reserved
	fresh  []waiting // came since the last step
	freed  bool      // something ended, so that some may move
	left   bool      // jobs left that may have room kept
	held   bool      // not all that wait are in the list: a gate holds them back, or it is long enough
	relist bool      // lines were held back or moved: all that wait have to be looked for
}

// waiting is a job with tasks for which no room is kept yet.
type waiting struct {
	job   int64
	at    lineRef
	tasks int32
}

// stepConservative starts what room was kept for from now on.
func (s *Scheduler) stepConservative(limit int, d *Decision) {
	b := &s.backfill
	k := &b.keep
	if k.left {
		s.dropGone()
	}
	if k.relist || k.freed && (k.held || !b.stable) {
		s.relist()
	} else {
		s.listFresh()
	}
	s.fill(k.freed)
	k.fresh, k.freed, k.left, k.relist = k.fresh[:0], false, false, false
	s.startDue(limit, d)
	if k.held && len(s.tolls) > 0 {
		s.parkUnpaid()
	}
}

// parkUnpaid parks the lines that no licence or token is left for, so that they are heard
// of again when there is one.
func (s *Scheduler) parkUnpaid() {
	for i := range s.queues {
		q := &s.queues[i]
		for k := range q.lines() {
			if l := q.line(k); l.ready() {
				if t := s.toll(l.shape); t != nil {
					s.pay(q.pool, lineRef{int32(i), int32(k)}, t)
				}
			}
		}
	}
}

// fill gives room to those that have none, and, if some may move, looks for earlier room
// for the others.
func (s *Scheduler) fill(move bool) {
	all, now := s.backfill.keep.all, s.instantOf()
	for i := range all {
		switch r := &all[i]; {
		case r.from == unplaced:
			s.keepRoom(r)
		case move && r.from > now:
			s.moveSooner(r)
		}
	}
}

// startDue starts the tasks whose time has come, in order.
func (s *Scheduler) startDue(limit int, d *Decision) {
	k, now, left := &s.backfill.keep, s.instantOf(), 0
	for i := range k.all {
		r := k.all[i]
		switch {
		case r.from == unplaced || r.from > now:
		case limit > 0 && len(d.Starts) >= limit:
			d.More = true
		case s.startKept(&r, d):
			continue
		case r.job == 0:
			continue
		}
		k.all[left] = r
		left++
	}
	k.all = k.all[:left]
}

// startKept starts a task in the room that was kept for it. If a gate holds it back it
// loses the room; if the room is not there, as some task ran over its limit, other room is
// kept.
func (s *Scheduler) startKept(r *reserved, d *Decision) bool {
	at, h, waits := s.waitingJob(r)
	if waits {
		waits = s.passes(s.queues[at.queue].pool, at)
	}
	s.holdRoom(r, +1)
	if !waits {
		r.job = 0
		return false
	}
	if !s.isThere(r) || !s.mayUse(r.nodes, r.shape, s.line(at).limit) || !s.licensesFree(r.shape) {
		r.from = unplaced
		s.keepRoom(r)
		return false
	}
	leaf := s.queues[at.queue].pool
	from := int32(len(d.levels))
	s.wayTo(leaf, d)
	s.hosts = append(s.hosts[:0], r.nodes...)
	s.startAt(leaf, at, h, r.nodes[0], from, d)
	return true
}

// wayTo records the way from the root to a leaf that was not compared with others.
func (s *Scheduler) wayTo(leaf int32, d *Decision) {
	from := len(d.levels)
	for id := leaf; id != int32(Root); id = s.pools[id].parent {
		in := s.parentOf(id)
		l := Level{Pool: PoolID(in.id), Child: PoolID(id), Open: int32(in.open)}
		switch {
		case in.weigher != nil:
			l.Terms = in.weigher.Weigh(&s.pools[id])
		default:
			l.Terms = s.terms(in, id)
		}
		d.levels = append(d.levels, l)
	}
	slices.Reverse(d.levels[from:])
}

// waitingJob finds the job in its line.
func (s *Scheduler) waitingJob(r *reserved) (lineRef, head, bool) {
	if b, begun := s.begunOf[r.job]; begun {
		j := &s.begun[b]
		return j.at, head{j.id, j.since, j.running, b}, j.at == r.at && j.waiting > 0 && !j.capped() && s.line(j.at).gate == noGate
	}
	l := s.line(r.at)
	ci, i, found := l.fresh.find(r.job)
	if !found || l.gate != noGate {
		return r.at, head{}, false
	}
	e := l.fresh.chunk(ci).entries[i]
	return r.at, head{e.id, e.since, 0, -1}, true
}

// tasksOf is how many tasks of a job wait in a line and may start.
func (s *Scheduler) tasksOf(job int64, at lineRef) int32 {
	l := s.line(at)
	if l.gate != noGate {
		return 0
	}
	if b, begun := s.begunOf[job]; begun {
		if j := &s.begun[b]; j.at == at {
			if j.capped() {
				return 0
			}
			return startable(j.waiting, j.running, j.most)
		}
		return 0
	}
	ci, i, found := l.fresh.find(job)
	if !found {
		return 0
	}
	e := l.fresh.chunk(ci).entries[i]
	return startable(e.tasks, 0, tighter(e.most, s.queues[at.queue].most))
}

// startsOf is tasksOf, where a gang counts once.
func (s *Scheduler) startsOf(job int64, at lineRef) int32 {
	n := s.tasksOf(job, at)
	if s.gangOf(s.line(at).shape) > 0 {
		n = min(n, 1)
	}
	return n
}

// tasksIn is how many tasks are in a list.
func (s *Scheduler) tasksIn(all []reserved) (tasks int64) {
	for i := range all {
		tasks += s.atOnce(all[i].shape)
	}
	return tasks
}

// startable is how many of the tasks of a job that wait may run beside those that do.
func startable(waiting, running, most int32) int32 {
	if most == 0 {
		return waiting
	}
	return max(0, min(waiting, most-running))
}

// dropGone gives back the room of tasks that do not wait any more.
func (s *Scheduler) dropGone() {
	b := &s.backfill
	seen := map[int64]int32{}
	b.keep.all = slices.DeleteFunc(b.keep.all, func(r reserved) bool {
		seen[r.job]++
		if seen[r.job] <= s.startsOf(r.job, r.at) {
			return false
		}
		if r.from != unplaced {
			s.holdRoom(&r, +1)
		}
		return true
	})
}

// listFresh puts the tasks that came into the list, in order of arrival.
func (s *Scheduler) listFresh() {
	k := &s.backfill.keep
	for _, w := range k.fresh {
		if s.deepEnough(len(k.all)) {
			k.held = true
			return
		}
		n := min(w.tasks, s.startsOf(w.job, w.at))
		k.held = k.held || n < w.tasks
		r := s.unplacedAt(w.at, w.job)
		i := len(k.all)
		for i > 0 && k.all[i-1].key > r.key {
			i--
		}
		for range n {
			k.all = slices.Insert(k.all, i, r)
		}
	}
}

func (s *Scheduler) arrivalOf(at lineRef, job int64) float64 {
	return Arrival(int(max(0, s.pools[s.queues[at.queue].pool].band)), job)
}

// relist puts those that wait and may start into the order in which the policy would start
// them. Room that is kept stays kept, also for jobs that are further behind by now than room
// is looked for.
func (s *Scheduler) relist() {
	k := &s.backfill.keep
	kept := map[int64][]reserved{}
	for _, r := range k.all {
		if r.from != unplaced {
			kept[r.job] = append(kept[r.job], r)
		}
	}
	before, listed, more := k.all, map[int64]int32{}, false
	k.all = nil
	s.preview(true, func(f *Scheduler, st Start) bool {
		if more = s.deepEnough(len(k.all)); more {
			return false
		}
		at := s.lineFor(int32(st.Pool), f.run(st.Run).ask())
		listed[st.Job]++
		if listed[st.Job] > 1 && f.gangOf(f.run(st.Run).shape) > 0 {
			return true // a task of the same gang
		}
		if have := kept[st.Job]; len(have) > 0 && have[0].at == at {
			k.all = append(k.all, have[0])
			kept[st.Job] = have[1:]
		} else {
			k.all = append(k.all, s.unplacedAt(at, st.Job))
		}
		return true
	})
	for _, r := range before {
		have := kept[r.job]
		if len(have) == 0 || !have[0].same(&r) {
			continue
		}
		kept[r.job] = have[1:]
		if more && listed[r.job] < s.startsOf(r.job, r.at) {
			listed[r.job]++
			k.all = append(k.all, r)
		} else {
			s.holdRoom(&r, +1)
		}
	}
	k.held = s.tasksIn(k.all) < s.pools[Root].Waiting
}

// deepEnough reports whether so many jobs are as many as are looked at.
func (s *Scheduler) deepEnough(n int) bool { return s.cfg.Depth > 0 && n >= s.cfg.Depth }

// byArrivalOnly reports whether the order of what waits never changes.
func (s *Scheduler) byArrivalOnly() bool {
	for i := range s.inners {
		if _, yes := s.inners[i].policy.(byArrival); !yes {
			return false
		}
	}
	return true
}

// Reservation is room that is kept for a task, or a gang, from an instant on.
type Reservation struct {
	Job      int64
	Pool     PoolID           // the leaf in which it waits
	Nodes    []cluster.NodeID // one for each task; not to be changed
	From, To time.Time
}

// Reservations are those that the last step made or kept: of the job that goes before all
// others that find no room, under [EASY], or of all, under [Conservative], in order.
func (s *Scheduler) Reservations() iter.Seq[Reservation] {
	return func(yield func(Reservation) bool) {
		for _, r := range s.keptRoom() {
			x := Reservation{r.job, PoolID(s.queues[r.at.queue].pool), r.nodes, time.Unix(0, r.from), time.Unix(0, r.to)}
			if r.from != unplaced && !yield(x) {
				return
			}
		}
	}
}

// nextKept is when the next task has room, zero if there is none. One that should have it by
// now, and did not start, waits for something to happen.
func (s *Scheduler) nextKept() time.Time {
	next, now := int64(cluster.Forever), s.instantOf()
	for _, r := range s.backfill.keep.all {
		if r.from > now {
			next = min(next, r.from)
		}
	}
	if next == cluster.Forever {
		return time.Time{}
	}
	return time.Unix(0, next)
}
