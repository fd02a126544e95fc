package sched

import (
	"math"
	"time"
)

// A node may be the way into another queue: what it is given waits there for its turn. Such a
// task has its room on the node, as long as it is there, and counts as running wherever it is
// asked what a pool holds, and what is to be expected of it. But it receives nothing: service
// is counted from its beginning on, and if it never begins there was none.

// inQueue is what of a pool waits in queues of nodes.
type inQueue struct {
	tasks int32
	units float64
}

// Queue says that a task that started waits in a queue of its node: it has received nothing,
// and receives nothing until [Scheduler.Begin].
func (s *Scheduler) Queue(id RunID, t time.Time) {
	s.advance(t)
	r := s.run(id)
	if r.queued {
		return
	}
	s.accrue(r, -1)
	r.queued = true
	s.countQueued(r, +1)
	s.foresee(r.pool)
	s.settle(r.pool)
}

// Begin says that a task that waited in a queue of its node began at an instant, which counts
// as its start. Before its start, or after t, it cannot have been.
func (s *Scheduler) Begin(id RunID, began, t time.Time) {
	s.advance(t)
	r := s.run(id)
	if !r.queued {
		return
	}
	if began.After(s.at) {
		began = s.at
	}
	if began.Before(r.started) {
		began = r.started
	}
	s.countQueued(r, -1)
	r.queued, r.started, r.start = false, began, s.clock.At(began)
	s.backfill.plan = nil // it ends later than was planned
	s.accrue(r, +1)
	s.foresee(r.pool)
	s.settle(r.pool)
}

// accrue counts a task in of those that receive service since they started, or out of them.
func (s *Scheduler) accrue(r *run, sign float64) {
	s.events++
	s.charge(r.pool)
	had := r.price * s.at.Sub(r.started).Seconds()
	for id := r.pool; id >= 0; id = s.pools[id].parent {
		p := &s.pools[id]
		p.Account.Accrue(sign*r.price, r.start)
		if p.Days != nil {
			p.Days.Run(sign*r.price, s.instant.Unix)
			p.Days.Add(sign*had, unix(r.started), s.instant.Unix)
		}
		for _, slot := range s.boosts.of[id] {
			b := &s.boosts.slots[slot]
			b.Had = math.Max(0, b.Had+sign*had)
		}
		s.changed(id)
	}
}

// countQueued counts a task in or out of what waits in queues.
func (s *Scheduler) countQueued(r *run, sign int32) {
	if s.queued == nil {
		s.queued = map[int32]inQueue{}
	}
	width := s.cluster.Width(r.shape)
	for id := r.pool; id >= 0; id = s.pools[id].parent {
		q := s.queued[id]
		q.tasks += sign
		if q.units += float64(sign) * width; q.tasks == 0 {
			delete(s.queued, id)
			continue
		}
		s.queued[id] = q
	}
}

// Queued is how many of the tasks that run in and below a pool have not begun, but wait in
// queues of their nodes, and how many units these take.
func (s *Scheduler) Queued(id PoolID) (tasks int, units float64) {
	q := s.queued[int32(id)]
	return int(q.tasks), q.units
}

// rate is what a task receives each second.
func (r *run) rate() float64 {
	if r.queued {
		return 0
	}
	return r.price
}

// startOf is since when a task runs, as its end is planned: one that has not begun will at the
// earliest now.
func (s *Scheduler) startOf(r *run) time.Time {
	if r.queued {
		return s.at
	}
	return r.started
}
