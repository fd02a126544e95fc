package forecast

import (
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// exchanged describes a job and its replacement.
type exchanged struct {
	changes      []why.Varied
	again        bool
	after        *why.Answer
	before, then *estimator

	now        time.Time
	fork       *sched.Scheduler
	next       *queue.Job
	own, other sched.Job // the present job, and its replacement

	*borrowed
}

// exchange replaces a job in a fork. If many tasks wait, that takes long, so the engine continues meanwhile: its lock
// is held only to make the copy and to explain the result.
func (fc *Forecaster) exchange(j *queue.Job, v Variation) (*exchanged, error) {
	x, err := fc.beginExchange(j, v)
	if err != nil {
		return nil, err
	}
	if now := x.fork.ForkIn(x.room()); x.before.hurried {
		x.before.future = now.AsFuture(nil).Once() // the tables give ranges
	} else {
		x.before.future = now.AsFuture(x.room())
	}
	if x.again || x.own.Pool != x.other.Pool {
		x.fork.Withdraw(x.own, x.now)
		if x.again {
			x.fork.Rest()
		}
		x.fork.Add(x.other, x.now)
	} else {
		x.fork.Exchange(x.own, []sched.Job{x.other}, x.now)
	}
	o := explain.Asked{WhyOptions: explain.WhyOptions{Siblings: 1}, Preview: explain.WhatIfTasks}
	var order *explain.Order
	if x.before.hurried {
		order = explain.OrderUpTo(x.next.ID, x.fork.ForkIn(x.room()).AsOutlook())
	}
	fc.loop.Read(func(s *engine.State) {
		s = s.With(x.fork)
		if order != nil {
			o.Place = explain.Tally(s, x.other).LookUp(order, x.next.ID)
		}
		x.after = explain.Answer(s, x.next)
		explain.WhyWaiting(s, x.after, x.next, nil, nil, o)
		x.then = fc.estimatorIn(s, x.fork, x.next.ID, x.now)
	})
	x.then.future, x.then.tables = x.fork.AsFuture(x.room()), nil
	return x, nil
}

// beginExchange copies the data for an exchange from the engine.
func (fc *Forecaster) beginExchange(j *queue.Job, v Variation) (*exchanged, error) {
	return engine.Read2(fc.loop, func(s *engine.State) (*exchanged, error) {
		next := v.apply(j)
		if err := next.Check(); err != nil {
			return nil, err
		}
		n := poolpath.Naming(s.Core, v.By)
		n.In, n.Priority, n.QOS = j.Pool, j.Priority, j.QOS
		if err := s.Shares.Settle(&next, n); err != nil {
			return nil, err
		}
		x := &exchanged{borrowed: fc.borrow(), next: &next, again: !v.inPlace(j), now: time.Now()}
		x.changes = varied(j, &next, s.Core.Cluster().Unit())
		if len(x.changes) == 0 {
			return nil, queue.Invalidf("what-if", "job %d asks for that already; give a different value", j.ID)
		}
		s.Core.Advance(x.now)
		x.fork = s.Core.ForkIn(x.room())
		x.before = fc.estimatorIn(s, s.Core, j.ID, x.now)
		if next.Tasks = j.Waiting; x.again {
			next.ID, next.Submitted = trialID, x.now
		}
		forked := s.With(x.fork)
		x.own = forked.JobOf(engine.HeaderOf(j))
		x.other = forked.JobOf(engine.HeaderOf(&next))
		x.other.Begin = next.Begin
		return x, nil
	})
}

// trialID is the id of a hypothetical job. It is larger than all ids of real jobs.
const trialID = 1 << 47
