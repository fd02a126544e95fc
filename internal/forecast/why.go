package forecast

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// startedMeanwhile bounds how often a job is read again because it started between the read and the question to the
// scheduler.
const startedMeanwhile = 4

// Why explains the state of a job, by the numbers that the next step would compare.
func (fc *Forecaster) Why(ctx context.Context, id int64, o explain.WhyOptions) (*why.Answer, error) {
	rooms := fc.borrow()
	defer rooms.drop()
	for try := 1; ; try++ {
		a, future, err := fc.whyNow(ctx, id, o, rooms)
		if err != nil || a.Reason.Code != "" {
			if future != nil {
				a.Start = future.estimate()
				expectLater(a)
				future.advise(a)
			}
			return a, err
		}
		if try == startedMeanwhile {
			a.Verdict, a.Reason = why.AsDesigned, explain.Starting
			return a, nil
		}
	}
}

// expectLater records in the room that is kept for a job that the job is expected to start later.
func expectLater(a *why.Answer) {
	k, start := a.Kept, a.Start
	if k == nil || start == nil || !k.MayMove || k.Overdue {
		return
	}
	later := func(t *time.Time) bool { return t != nil && afterPlanned(k, *t) }
	switch {
	case !k.Predicted && later(start.By):
		k.Expected = start.By
	case k.Predicted && (k.Owed || !k.Held) && later(start.Early) && !unknown(start):
		k.Expected = start.Middle
	}
}

// whyNow is Why, but returns no reason if the job has started since it was read.
func (fc *Forecaster) whyNow(ctx context.Context, id int64, o explain.WhyOptions, rooms *borrowed) (a *why.Answer,
	future *estimator, err error) {
	j, err := fc.loop.Client().Job(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	tasks, err := fc.tasksOf(ctx, j)
	if err != nil {
		return nil, nil, err
	}
	blockers, err := fc.explain.Blockers(ctx, j)
	if err != nil {
		return nil, nil, err
	}
	stop, err := fc.stopOf(ctx, j, tasks)
	if err != nil {
		return nil, nil, err
	}
	if err := fc.loop.Sync(ctx); err != nil {
		return nil, nil, err
	}
	asked := explain.Asked{WhyOptions: o}
	if !o.Evidence && j.Waiting > 0 {
		asked.Place = fc.explain.PlaceOf(ctx, j)
		defer asked.Place.Done()
	}
	return engine.Read3(fc.loop, func(s *engine.State) (a *why.Answer, future *estimator, err error) {
		s.Core.Advance(time.Now())
		a = explain.Answer(s, j)
		a.Stop = stop
		switch {
		case j.State.Ended():
			a.Verdict, a.Reason = why.Ended, explain.EndedReason(j, tasks)
			s.Decided.AddChoice(s.Core, a, j)
		case j.Cancel && j.Running > 0:
			a.Verdict, a.Reason = why.AsDesigned, explain.CancellingReason(j, tasks)
			s.Decided.AddChoice(s.Core, a, j)
		case j.State == queue.Queued && j.Waiting == 0:
			a.Verdict, a.Reason = why.AsDesigned, explain.QueuedReason(j, tasks)
			s.Decided.AddChoice(s.Core, a, j)
		case j.State == queue.Running && j.Waiting == 0:
			a.Verdict, a.Reason = why.AsDesigned, explain.RunningReason(j, tasks)
			s.Decided.AddChoice(s.Core, a, j)
		default:
			explain.WhyPlaced(s, a, j, tasks, blockers, asked)
		}
		if o.Estimate && j.Waiting > 0 && (j.State == queue.Waiting || j.State == queue.Queued || j.State == queue.Running) &&
			explain.Startable(a) {
			future = fc.estimatorOf(s, j.ID, a.At, rooms)
			if j.State == queue.Waiting { // a job with running tasks is not submitted again
				future.others = alternativesOf(s, j, a)
			}
		}
		return a, future, nil
	})
}

// tasksOf reads the tasks of a job. If one of them began or ended after the job was read, it reads the job again, so
// that both are of one instant.
func (fc *Forecaster) tasksOf(ctx context.Context, j *queue.Job) ([]queue.Task, error) {
	if j.State == queue.Held || j.State == queue.Blocked {
		return nil, nil
	}
	const tries = 3
	for i := 1; ; i++ {
		tasks, err := fc.loop.Store.Tasks(ctx, j.ID)
		if err != nil || i == tries || running(tasks) == j.Running {
			return tasks, err
		}
		again, err := fc.loop.Client().Job(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		*j = *again
	}
}

// running is how many of the tasks have a lease.
func running(tasks []queue.Task) (n int) {
	for i := range tasks {
		if tasks[i].State == queue.Running || tasks[i].State == queue.Queued {
			n++
		}
	}
	return n
}

// WhatIf predicts what would happen to a waiting job with another request. It replaces the job in a fork of the
// scheduler. A waiting job can change only its priority and pool in place; for all other changes the fork cancels and
// resubmits it, as its owner would have to do.
func (fc *Forecaster) WhatIf(ctx context.Context, id int64, v Variation) (*why.WhatIf, error) {
	before, _, err := fc.whyNow(ctx, id, explain.WhyOptions{Siblings: 1}, nil)
	if err != nil {
		return nil, err
	}
	j, err := fc.loop.Client().Job(ctx, id)
	if err != nil {
		return nil, err
	}
	if j.State != queue.Waiting {
		return nil, queue.Invalidf("job", "job %d is %s; ask about one that waits", id, j.State)
	}
	x, err := fc.exchange(j, v)
	if err != nil {
		return nil, err
	}
	defer x.drop()
	w := &why.WhatIf{Version: why.Version, At: before.At, Job: id, Name: j.Name, Changes: x.changes, Again: x.again}
	for _, s := range []struct {
		to *why.Standing
		a  *why.Answer
		e  *estimator
	}{{&w.Before, before, x.before}, {&w.After, x.after, x.then}} {
		if explain.Startable(s.a) {
			s.a.Start = s.e.estimate()
		}
		*s.to = s.a.Standing()
		if s.to.Now = s.a.Start != nil && s.a.Start.By != nil && !s.a.Start.By.After(s.e.began); s.to.Now {
			s.to.Reason, s.to.Others = why.Reason{Code: why.StateStarting, Text: "it would start at once"}, nil
		}
	}
	w.Compare()
	return w, nil
}

// lastStop returns the last stop of a job if the tasks that it stopped wait again and have not started since.
func lastStop(stops []queue.Stopped, tasks []queue.Task) *why.Stop {
	for _, x := range slices.Backward(stops) {
		i := slices.IndexFunc(tasks, func(t queue.Task) bool { return t.Index == x.Ref.Task })
		if i >= 0 && tasks[i].Attempt == x.Ref.Attempt && tasks[i].State == queue.Waiting {
			return &x.Reason
		}
	}
	return nil
}

// stopsKept is the number of a job's latest stops that are searched for the reason of its wait.
const stopsKept = 64

// stopOf returns the latest stop of a job that waits because of it.
func (fc *Forecaster) stopOf(ctx context.Context, j *queue.Job, tasks []queue.Task) (*why.Stop, error) {
	if j.State.Ended() || len(tasks) == 0 {
		return nil, nil
	}
	stops, err := fc.loop.Store.Stops(ctx, queue.StopQuery{Job: j.ID, Limit: stopsKept})
	return lastStop(stops, tasks), err
}
