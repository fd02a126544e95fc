package sched

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Several schedulers may share what waits: each starts tasks on nodes of its own, and hears
// of what the others start. What all of them run counts in each.

// Take says that somebody started a task of a job on a node: it waits no more, if it did, and
// runs since started. Unlike [Scheduler.Adopt] it is no matter of the past: the start counts
// under its rates, unless it is among what SetRate has told of them.
func (s *Scheduler) Take(j Job, node cluster.NodeID, started, t time.Time) RunID {
	s.advance(t)
	if l := s.toll(j.Shape); l != nil {
		s.countElsewhere(l, started)
	}
	at, h, waits := s.waitingHead(j)
	if !waits {
		s.later.take(j.ID)
		id := s.Adopt(j, node, started, t)
		s.chosenElsewhere(id)
		return id
	}
	s.events++
	s.backfill.keep.left, s.backfill.keep.freed = true, true
	leaf, wanted := s.queues[at.queue].pool, -1.0
	if s.line(at).held() {
		wanted = 0
	}
	j.since = h.since
	b := s.take(at, h)
	s.countWaiting(at, -1)
	id := s.occupy(leaf, b, &j, node, started, wanted)
	s.chosenElsewhere(id)
	return id
}

// chosenElsewhere moves the clocks on the way to a task as its choice here would have done. A
// scheduler without room chooses nothing: with clocks that stand still, a pool that returns while
// nobody waits would be owed what the others received while it was away.
func (s *Scheduler) chosenElsewhere(run RunID) {
	for id := s.run(run).pool; id != int32(Root); id = s.pools[id].parent {
		if in := s.parentOf(id); in.carrier != nil {
			in.clock = math.Max(in.clock, in.carrier.Level(&s.pools[id], s.now))
		}
	}
}

// countElsewhere takes the tokens of a start that somebody else made. Where a rate stands was
// told as of an instant of the clock that start times are of, too.
func (s *Scheduler) countElsewhere(t *toll, started time.Time) {
	for _, n := range t.rates {
		if r := &s.rates[n]; r.Limit.Count > 0 && started.After(r.told) {
			r.Take(s.at, 1)
		}
	}
}

// waitingHead finds the line in which a task of a job waits.
func (s *Scheduler) waitingHead(j Job) (at lineRef, h head, found bool) {
	if b, begun := s.begunOf[j.ID]; begun {
		x := &s.begun[b]
		return x.at, head{x.id, x.since, x.running, b}, x.waiting > 0
	}
	if at, found = s.held(j); !found {
		return at, h, false
	}
	fresh := &s.line(at).fresh
	ci, i, _ := fresh.find(j.ID)
	return at, head{id: j.ID, since: fresh.chunk(ci).entries[i].since, begun: -1}, true
}

// take takes one task of a job out, if there is one: that which may begin first.
func (l *later) take(id int64) {
	state, first := l.jobs[id], -1
	if state.tasks < 2 {
		l.withdraw(id)
		return
	}
	for i, e := range l.heap {
		if e.job.ID == id && l.valid(e) && (first < 0 || l.heap.Less(i, first)) {
			first = i
		}
	}
	state.tasks--
	l.jobs[id] = state
	if l.heap[first].job.Tasks--; l.heap[first].job.Tasks == 0 {
		heap.Remove(&l.heap, first)
	}
}

// everywhere lets a fork start tasks on the nodes of all: what it is asked is when a job will
// start, whoever starts it. While gangs wait it does not: it would start them on the nodes of
// several servers, each of which starts only what its own nodes have room for.
func (s *Scheduler) everywhere() {
	changed := false
	for _, shape := range slices.Concat(s.shapeReady.active, s.noRoom.active) {
		if s.gangOf(shape) > 0 {
			return
		}
	}
	for i, n := range s.cluster.Nodes() {
		if n.State == cluster.Elsewhere {
			s.cluster.SetState(cluster.NodeID(i), cluster.Up)
			changed = true
		}
	}
	if changed {
		s.measure()
		s.resized()
		s.backfill.plan = nil
		s.openFits()
	}
}

// Line names the line from which a job of one task was started.
type Line struct {
	leaf int32
	of   ask
}

// LineOf is the line from which a task was started, if it is the only one of its job.
func (s *Scheduler) LineOf(id RunID) (l Line, only bool) {
	r := s.run(id)
	return Line{r.pool, r.ask()}, r.begun < 0
}

// Alike are up to most jobs of one task each that go next in a line, in order.
func (s *Scheduler) Alike(of Line, most int) (ids []int64) {
	n := s.pools[of.leaf].queue
	if n < 0 {
		return nil
	}
	for i := range s.queues[n].lines() {
		l := s.queues[n].line(i)
		if l.ask != of.of {
			continue
		}
		for c := range l.fresh.chunks() {
			for _, e := range l.fresh.chunk(c).entries[l.fresh.start(c):] {
				if len(ids) == most {
					return ids
				}
				if e.tasks == 1 && e.most == 0 {
					ids = append(ids, e.id)
				}
			}
		}
	}
	return ids
}

// JobOf is the job of a task that runs, as one task of it that waits was added.
func (s *Scheduler) JobOf(id RunID) Job {
	r := s.run(id)
	return Job{ID: r.job, Pool: s.Pool(s.Path(PoolID(r.pool))), Shape: r.shape, Priority: int(r.band), Tasks: 1, Limit: r.limit, Class: r.class, since: r.since}
}

// LeaveStops says whether it is left to another scheduler to stop tasks so that others get
// their room. Where several share what waits, one of them does it for all: each would stop
// for the same pools.
func (s *Scheduler) LeaveStops(left bool) { s.stops.left = left }
