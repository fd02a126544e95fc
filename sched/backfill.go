package sched

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Backfill: the policy gives the order, placement finds the holes. Room in the future is
// planned by the time limits of what runs (Lifka, "The ANL/IBM SP scheduling system",
// JSSPP 1995, for EASY; Feitelson and Weil, IPPS 1998, for conservative backfilling).

// backfilling is what the scheduler keeps under [EASY] and [Conservative].
type backfilling struct {
	plan *cluster.Plan // of what runs; nil: to be made anew
	ends endings
	// firsts are, under EASY, the jobs that wait for room and go before all others that do: one
	// of those who ask for no window, and one of each window, as nobody else gets that room.
	firsts  []reserved
	firstOn []bool   // nodes on which they have room
	last    reserved // that of the step before, if there was one only
	keep    keeper   // conservative

	// unfinished is set when the last step ended at its limits; events says when it was.
	unfinished bool
	events     uint64

	behind int       // candidates of this pass that found no room behind that of first
	stable bool      // the order of what waits never changes
	tries  []lineRef // of lookAgain
}

// fork returns a copy for a fork of the scheduler, which has a cluster of its own.
func (b *backfilling) fork(c *cluster.Cluster) backfilling {
	f := *b
	if b.plan != nil {
		f.plan = b.plan.Clone(c)
	}
	f.ends, f.tries, f.firsts = slices.Clone(b.ends), nil, slices.Clone(b.firsts)
	f.firstOn = slices.Clone(b.firstOn)
	f.keep.all, f.keep.fresh = slices.Clone(b.keep.all), slices.Clone(b.keep.fresh)
	return f
}

// NoLimit is how long a task without a time limit is planned to run. It is long enough
// for nothing to be planned behind it before all others, and is not for ever, so that
// what has to wait for it still goes before what would delay it.
const NoLimit = 365 * 24 * time.Hour

// backfills reports whether room in the future is planned.
func (s *Scheduler) backfills() bool {
	return s.cfg.Placement == EASY || s.cfg.Placement == Conservative
}

// planned is how long a task with the time limit is planned to run.
func planned(limit time.Duration) int64 {
	if limit <= 0 {
		return int64(NoLimit)
	}
	return int64(limit)
}

// instantOf is an instant as the plan counts.
func (s *Scheduler) instantOf() int64 { return s.at.UnixNano() }

// beginBackfill brings the plan up to date before a step looks for room.
func (s *Scheduler) beginBackfill() {
	b, now := &s.backfill, s.instantOf()
	if b.plan == nil {
		s.replan()
	}
	b.plan.Advance(now)
	if b.unfinished && b.events == s.events {
		return // those that were looked at in the last step need not be again
	}
	b.events, b.behind = s.events, 0
	s.unreserve()
	s.overrun(now)
	if s.cfg.Placement == EASY {
		s.lookAgain()
	}
}

// replan makes the plan anew: of what runs.
func (s *Scheduler) replan() {
	b, now := &s.backfill, s.instantOf()
	b.plan, b.ends, b.firsts, b.keep = s.cluster.NewPlan(now, s.licenseTotals()), b.ends[:0], b.firsts[:0], keeper{relist: true}
	clear(b.firstOn)
	b.stable = s.byArrivalOnly()
	for i := range s.runs {
		if r := &s.runs[i]; r.used {
			s.planStart(int32(i))
		}
	}
	for _, x := range s.lingering {
		for _, room := range x.held {
			b.plan.Take(room.node, room.shape, now, room.until)
			s.planLicenses(room.shape, -1, now, room.until)
		}
	}
}

// planRun takes the room of a task that runs.
func (s *Scheduler) planRun(i int32) {
	b, r := &s.backfill, &s.runs[i]
	b.plan.Take(r.node, r.shape, s.instantOf(), r.until)
	s.planLicenses(r.shape, -1, s.instantOf(), r.until)
	b.ends.push(ending{r.until, i, r.serial})
}

// planStart plans a task that runs, by its limit.
func (s *Scheduler) planStart(i int32) {
	if s.backfill.plan == nil {
		return
	}
	r := &s.runs[i]
	r.until = max(s.startOf(r).UnixNano()+planned(r.limit), s.instantOf())
	s.planRun(i)
}

// planEnd gives back what a task that ended would still have had, up to an instant.
func (s *Scheduler) planEnd(node cluster.NodeID, shape cluster.Shape, until int64) {
	if b := &s.backfill; b.plan != nil {
		b.plan.Give(node, shape, s.instantOf(), until)
		s.planLicenses(shape, +1, s.instantOf(), until)
		b.keep.freed = true
	}
}

// overrun plans more time for tasks that should have ended: they are about to be ended,
// or no limit is enforced. Each time it is as long again as they are late.
func (s *Scheduler) overrun(now int64) {
	b := &s.backfill
	for len(b.ends) > 0 && b.ends[0].until <= now {
		e := b.ends.pop()
		r := &s.runs[e.run]
		if !r.used || r.serial != e.serial {
			continue
		}
		due := s.startOf(r).UnixNano() + planned(r.limit)
		r.until = max(due, now+max(now-due, int64(late)))
		s.planRun(e.run)
	}
}

// late is the least time that a task is given which runs over its limit.
const late = 10 * time.Second

// lookAgain lets lines try again that found no room, if there is room for any task now. In
// general all of them may: which goes first has to be seen, as room is kept for that. Where
// the order never changes it is the same job as before, and only those need try that will
// find room.
func (s *Scheduler) lookAgain() {
	w := &s.noRoom
	if len(w.active) == 0 {
		return
	}
	fit := s.fittingPaid()
	if len(fit) == 0 && !s.somethingFits() {
		return
	}
	var all []lineRef
	if s.firstAgain() {
		all = w.takeIf(fit, s.backfill.tries[:0], func(at lineRef) bool {
			_, fits := s.placeBehind(s.line(at).shape, s.line(at).limit)
			return fits
		})
		s.backfill.tries = all[:0]
	} else {
		all = w.all()
	}
	s.keeping = byFit
	for _, at := range all {
		s.setGate(at, noGate)
	}
	for i, at := range all {
		if i == 0 || at.queue != all[i-1].queue {
			s.settle(s.queues[at.queue].pool)
		}
	}
	s.keeping = noGate
}

// fittingPaid lists the shapes that wait for room and for which there is some now, and the
// licences.
func (s *Scheduler) fittingPaid() []cluster.Shape {
	return slices.DeleteFunc(s.noRoom.fitting(s.cluster), func(shape cluster.Shape) bool { return !s.licensesFree(shape) })
}

// firstAgain keeps room for the job for which it was kept in the last step, and reports
// that this is right: it still waits, finds none, and nobody has come before it.
func (s *Scheduler) firstAgain() bool {
	b := &s.backfill
	last := b.last
	if !b.stable || last.job == 0 || s.cluster.Windowed() {
		return false
	}
	l := s.line(last.at)
	if l.gate != byFit || l.ask.shape != last.shape || l.fresh.jobs+len(l.begun) == 0 || s.head(l, true).id != last.job {
		return false
	}
	if open := s.inners[s.pools[Root].inner].arrivals.entries; len(open) > 0 && open[0].key < last.key {
		return false
	}
	if _, fits := s.findPaid(l.shape, l.limit); fits {
		return false
	}
	s.keepFirst(last.at, last.job)
	return true
}

// backfillOn looks for a node for a task of a line. The first one that finds no room has
// room kept for it at the earliest instant at which there will be some; after that only
// those fit that do not need it.
func (s *Scheduler) backfillOn(at lineRef, job int64) (cluster.NodeID, bool) {
	l := s.line(at)
	find := s.findPaid
	if len(s.backfill.firsts) > 0 {
		find = s.placeBehind
	}
	node, fits := find(l.shape, l.limit)
	switch {
	case fits:
	case s.keptAhead(l.shape) != nil:
		s.backfill.behind++
	default:
		s.keepFirst(at, job)
	}
	return node, fits
}

// findPaid is find for what its licences are free for.
func (s *Scheduler) findPaid(shape cluster.Shape, limit time.Duration) (cluster.NodeID, bool) {
	if !s.licensesFree(shape) {
		return 0, false
	}
	return s.find(shape, limit)
}

// placeBehind finds a node that is free for as long as a task may run, or those for a gang.
func (s *Scheduler) placeBehind(shape cluster.Shape, limit time.Duration) (node cluster.NodeID, fits bool) {
	now := s.instantOf()
	end := now + planned(limit)
	if !s.licensesBehind(shape, now, end) {
		return 0, false
	}
	if s.gangOf(shape) > 0 {
		holds := func(id cluster.NodeID) (int, bool) { return s.backfill.plan.Holds(id, shape, now, end), !s.keptOn(id) }
		if s.hosts, fits = s.cluster.PlaceGang(shape, holds, s.hosts[:0]); fits {
			node = s.hosts[0]
		}
		return node, fits
	}
	free := func(id cluster.NodeID) bool { return s.backfill.plan.Fits(id, shape, now, end) }
	if len(s.cluster.Nodes()) > 1 {
		if node, fits = s.cluster.PlaceOn(shape, func(id cluster.NodeID) bool { return s.keptOn(id) && free(id) }); fits {
			return node, true
		}
	}
	return s.cluster.PlaceOn(shape, free)
}

// keptOn reports whether room is kept on a node for a first job. What is over before then goes
// there, and leaves the others to what is not.
func (s *Scheduler) keptOn(id cluster.NodeID) bool {
	on := s.backfill.firstOn
	return int(id) < len(on) && on[id]
}

// keepFirst keeps room for the job that goes before all others that find none.
func (s *Scheduler) keepFirst(at lineRef, job int64) {
	if r := s.unplacedAt(at, job); s.keepRoom(&r) {
		b := &s.backfill
		b.firsts = append(b.firsts, r)
		for _, node := range r.nodes {
			for len(b.firstOn) <= int(node) {
				b.firstOn = append(b.firstOn, false)
			}
			b.firstOn[node] = true
		}
	}
}

// unreserve gives back the room that was kept: the next step may keep it for another.
func (s *Scheduler) unreserve() {
	b := &s.backfill
	if b.last = (reserved{}); len(b.firsts) == 1 {
		b.last = b.firsts[0]
	}
	for i := range b.firsts {
		s.holdRoom(&b.firsts[i], +1)
	}
	b.firsts = b.firsts[:0]
	clear(b.firstOn)
}

// ending is when a task is planned to end.
type ending struct {
	until  int64
	run    int32
	serial uint32
}

// endings is a binary heap, the earliest first. Tasks that ended early stay in it until
// their time comes.
type endings []ending

func (h *endings) push(e ending) {
	*h = append(*h, e)
	a := *h
	i := len(a) - 1
	for i > 0 && e.until < a[(i-1)/2].until {
		a[i] = a[(i-1)/2]
		i = (i - 1) / 2
	}
	a[i] = e
}

func (h *endings) pop() ending {
	a := *h
	top, e := a[0], a[len(a)-1]
	a = a[:len(a)-1]
	*h = a
	i := 0
	for {
		c := 2*i + 1
		if c >= len(a) {
			break
		}
		if c+1 < len(a) && a[c+1].until < a[c].until {
			c++
		}
		if e.until <= a[c].until {
			break
		}
		a[i] = a[c]
		i = c
	}
	if len(a) > 0 {
		a[i] = e
	}
	return top
}
