package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Add adds j.Tasks waiting tasks of a job. A job is added when it is submitted, and again when tasks of it return
// after they ran.
func (s *Scheduler) Add(j Job, t time.Time) {
	s.Advance(t)
	if j.Begin.After(s.site.at) {
		s.intake.later.add(j)
		return
	}
	s.intake.add(j)
}

// Withdraw removes all waiting tasks of a job, because it was canceled or held. It needs the Pool, Key and
// Priority that the job was added with, and returns the number of tasks removed. Running tasks continue.
func (s *Scheduler) Withdraw(j Job, t time.Time) int {
	s.Advance(t)
	s.site.events++
	s.reserve.backfill.keep.left, s.reserve.backfill.keep.freed = true, true
	s.reserve.backfill.forget(j.ID)
	n := s.intake.later.withdraw(j.ID)
	if b, ok := s.queues.begunOf[j.ID]; ok {
		return n + s.intake.withdrawBegun(b)
	}
	at, found := s.growth.held(j)
	if !found {
		return n
	}
	return n + int(s.intake.withdrawFresh(at, j.ID))
}

// Finish records that a task ended at t: its room is free and its service is settled. If learn is set, its length
// counts into the mean of its pool.
func (s *Scheduler) Finish(id RunID, t time.Time, learn bool) { s.FinishAt(id, t, t, learn) }

// FinishAt is Finish for a task that ended at the instant "ended". That may be earlier than t, the instant at which the
// scheduler learns of the end.
func (s *Scheduler) FinishAt(id RunID, ended, t time.Time, learn bool) {
	s.Advance(t)
	r, end := s.running.run(id), s.site.now
	if ended.Before(s.site.at) {
		if ended.Before(r.started) {
			ended = r.started
		}
		end = s.site.clock.At(ended)
	}
	seconds, rate := ended.Sub(r.started).Seconds(), r.rate()
	learn = learn && !r.queued
	if learn && s.reserve.predicts() {
		a := r.ask()
		s.reserve.predictor.note(s.reserve.likenessOf(r.pool, &a), seconds)
	}
	s.departures.end(id, func(p *Pool, width float64) {
		p.Account.Finish(width, rate, r.start, end)
		if learn {
			p.Learn(r.price, seconds, s.site.now)
		}
	})
}

// Abort records that a task did not start after all, as if it had never been chosen: it does not count under its rates.
// If the flag "back" is set, the task waits again.
func (s *Scheduler) Abort(id RunID, t time.Time, back bool) {
	s.Advance(t)
	r, most := *s.running.run(id), int32(0)
	if r.begun >= 0 {
		most = s.queues.begun[r.begun].own
	}
	s.departures.end(id, func(p *Pool, width float64) { p.Account.Finish(width, r.rate(), r.start, r.start) })
	s.overrides.refund(&r)
	if t := s.quotas.needsOf(r.key); t != nil {
		s.gates.uncountStart(t)
	}
	if back {
		s.intake.waitAgain(&r, most)
	}
}

// Adopt adds a task that already ran on the node when the scheduler was created, and had run since the instant
// "started". The job's other tasks are added separately.
func (s *Scheduler) Adopt(j Job, node cluster.NodeID, started, t time.Time) RunID {
	s.site.events++
	s.Advance(t)
	leaf := s.growth.leaf(j, s.site.isNew(j))
	b := int32(-1)
	if j.Tasks > 1 || j.MaxRunning > 0 || s.site.gangOf(j.Key) > 0 {
		b = s.growth.adoptBegun(j, leaf, started)
	}
	j.since = s.site.sinceThen(&j)
	id := s.placement.occupy(leaf, b, &j, node, started, leaf)
	s.turns.meetDominant()
	return id
}

// Join adds a node or changes its capacity; it takes tasks from now on.
func (s *Scheduler) Join(name string, capacity cluster.Amounts, t time.Time) cluster.NodeID {
	return s.JoinLabelled(name, capacity, nil, t)
}

// JoinLabelled is Join for a node with labels.
func (s *Scheduler) JoinLabelled(name string, capacity cluster.Amounts, labels cluster.Labels, t time.Time) cluster.NodeID {
	s.Advance(t)
	id := s.site.cluster.JoinLabelled(name, capacity, labels)
	s.turns.measure()
	s.turns.resized()
	s.reserve.backfill.plan = nil
	s.gates.openFits()
	return id
}

// SetNode changes whether a node takes tasks. Tasks on a node that is down end by Finish, once the caller knows
// that they no longer run.
func (s *Scheduler) SetNode(id cluster.NodeID, state cluster.State, t time.Time) {
	s.Advance(t)
	s.site.cluster.SetState(id, state)
	s.turns.measure()
	s.turns.resized()
	s.reserve.backfill.plan = nil
	s.gates.openFits()
}

// Queue records that a started task waits in a queue of its node: it has received no service, and receives none
// until [Scheduler.Begin].
func (s *Scheduler) Queue(id RunID, t time.Time) {
	s.Advance(t)
	r := s.running.run(id)
	if r.queued {
		return
	}
	s.overrides.accrue(r, -1)
	r.queued = true
	s.tree.countQueued(r, +1)
	s.overrides.forecastEnds(r.pool)
	s.turns.settle(r.pool)
}

// Begin records when a task that waited in a queue of its node began; that instant counts as its start. It is
// limited to the time from the former start to t.
func (s *Scheduler) Begin(id RunID, began, t time.Time) {
	s.Advance(t)
	r := s.running.run(id)
	if !r.queued {
		return
	}
	if began.After(s.site.at) {
		began = s.site.at
	}
	if began.Before(r.started) {
		began = r.started
	}
	s.tree.countQueued(r, -1)
	r.queued, r.started, r.start = false, began, s.site.clock.At(began)
	s.reserve.planAgain(id)
	s.overrides.accrue(r, +1)
	s.overrides.forecastEnds(r.pool)
	s.turns.settle(r.pool)
}

// SetRate sets the state of a rate at t; the limit stays the scheduler's own. SetRate converts the time at which
// the rate is full again from the clock of the state to this clock, so that differing clocks do no harm.
func (s *Scheduler) SetRate(state RateState, t time.Time) {
	s.Advance(t)
	r := &s.quotas.rates[s.quotas.rateNumber(state.Name)]
	if r.Limit.Count == 0 || state.Limit.check() != nil || state.Taken < 0 {
		return
	}
	limit := r.Limit
	r.Bucket, r.setAt = state.Bucket, state.At
	if !r.Full.IsZero() {
		r.Full = r.Full.Add(s.site.at.Sub(state.At))
	}
	r.change(limit, s.site.at)
	s.gates.passed()
}

// LeaveStops sets whether another scheduler stops tasks to make room. If several schedulers share the waiting jobs,
// one of them does it for all; otherwise each would stop tasks for the same pools.
func (s *Scheduler) LeaveStops(left bool) { s.departures.stops.left = left }

// Leave records that a task was told to end, for whatever reason: its room counts as about to be free, and it is
// not stopped again.
func (s *Scheduler) Leave(id RunID) { s.running.run(id).leaving = true }

// Spare records that a task of a decision is not stopped after all.
func (s *Scheduler) Spare(id RunID) {
	r := s.running.run(id)
	s.departures.giveTogether(r.group, nil)
	r.leaves = leaves{}
	s.gates.openFits()
}
