package forecast

import (
	"cmp"
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// TryOptions are the options of [Forecaster.Try].
type TryOptions struct {
	// Unsatisfiable accepts jobs that no node could ever run.
	Unsatisfiable bool
	// By is as in [engine.SubmitOptions], but only for rights, not for limits.
	By *access.Principal
	// Estimate adds when the job would start.
	Estimate bool
}

// Try predicts what would happen to a job if it were submitted now, in a fork of the scheduler. It stores nothing. It
// returns the error with which the job would be refused.
func (fc *Forecaster) Try(ctx context.Context, j queue.Job, o TryOptions) (a *why.Answer, tasks int, err error) {
	if err := fc.loop.Sync(ctx); err != nil {
		return nil, 0, err
	}
	if err := j.Check(); err != nil {
		return nil, 0, err
	}
	shares := fc.loop.Client().Shares.Load()
	err = engine.Read(fc.loop, func(s *engine.State) error {
		return cmp.Or(shares.CheckUnit(&j), shares.Settle(&j, poolpath.Naming(s.Core, o.By)))
	})
	if err != nil {
		return nil, 0, err
	}
	if err := fc.loop.Intake.CheckWindow(&j); err != nil {
		return nil, 0, err
	}
	if !o.Unsatisfiable {
		if err := fc.loop.Intake.Unsatisfiable(&j); err != nil {
			return nil, 0, err
		}
	}
	blockers, err := fc.tryAfter(ctx, &j)
	if err != nil {
		return nil, 0, err
	}
	rooms := fc.borrow()
	defer rooms.drop()
	a, future := fc.tryNow(j, blockers, rooms)
	if o.Estimate && explain.Startable(a) && j.Pending == 0 && !j.Held {
		a.Start = future.estimate()
		future.advise(a)
	}
	return a, j.Tasks, nil
}

// tryAfter checks the dependencies of a job, counts the unmet ones, and names them.
func (fc *Forecaster) tryAfter(ctx context.Context, j *queue.Job) (blockers []string, err error) {
	if len(j.After) == 0 {
		return nil, nil
	}
	var ids []int64
	for _, d := range j.After {
		ids = append(ids, d.Job)
	}
	jobs, err := fc.loop.Store.Jobs(ctx, queue.Query{IDs: ids})
	if err != nil {
		return nil, err
	}
	states := map[int64]queue.State{}
	for _, b := range jobs {
		states[b.ID] = b.State
	}
	for _, d := range j.After {
		wait, err := d.Wait(states[d.Job])
		if err != nil {
			return nil, err
		}
		if wait {
			j.Pending++
		}
	}
	return explain.Unmet(j, jobs), nil
}

// tryNow adds a job to a fork, and explains it there.
func (fc *Forecaster) tryNow(j queue.Job, blockers []string, rooms *borrowed) (a *why.Answer, future *estimator) {
	return engine.Read2(fc.loop, func(st *engine.State) (a *why.Answer, future *estimator) {
		now := time.Now()
		st.Core.Advance(now)
		j.ID, j.Submitted, j.Waiting, j.State = trialID, now, j.Tasks, queue.Waiting
		st = st.With(st.Core.ForkIn(rooms.room()))
		switch {
		case j.Held:
			j.State = queue.Held
		case j.Pending > 0:
			j.State = queue.Blocked
		default:
			s := st.JobOf(engine.HeaderOf(&j))
			s.Begin = j.Begin
			st.Core.Add(s, now)
		}
		a = explain.Answer(st, &j)
		a.Subject.Job = 0
		explain.WhyWaiting(st, a, &j, nil, blockers,
			explain.Asked{WhyOptions: explain.WhyOptions{Siblings: 1}, Preview: explain.WhatIfTasks})
		future = fc.estimatorOf(st, j.ID, now, rooms)
		future.tables, future.others = nil, alternativesOf(st, &j, a)
		return a, future
	})
}
