package fairlead

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/why"
)

// trialID is the id of a job that is only tried: it comes after all others.
const trialID = 1 << 47

// TryOptions say how a job is tried.
type TryOptions struct {
	// Unsatisfiable jobs are not refused that no node could ever run.
	Unsatisfiable bool
	// Estimate adds when the job would start.
	Estimate bool
}

// Try says what would become of a job if it were submitted now, by a fork of the
// scheduler. Nothing is kept. It returns the error with which the job would be refused.
func (l *Loop) Try(ctx context.Context, j Job, o TryOptions) (a *why.Answer, tasks int, err error) {
	if err := l.sync(ctx); err != nil {
		return nil, 0, err
	}
	if err := j.Check(); err != nil {
		return nil, 0, err
	}
	if err := l.client.shares.Load().settle(&j); err != nil {
		return nil, 0, err
	}
	if err := l.checkWindow(&j); err != nil {
		return nil, 0, err
	}
	if !o.Unsatisfiable {
		if err := l.unsatisfiable(&j); err != nil {
			return nil, 0, err
		}
	}
	blockers, err := l.tryAfter(ctx, &j)
	if err != nil {
		return nil, 0, err
	}
	a, future := l.tryNow(j, blockers)
	if o.Estimate && startable(a) && j.Pending == 0 && !j.Held {
		a.Start = future.estimate()
		a.Changes = future.changes(a)
	}
	return a, j.Tasks, nil
}

// tryAfter looks at the jobs on which a job depends, and names those it would wait for.
func (l *Loop) tryAfter(ctx context.Context, j *Job) (blockers []string, err error) {
	if len(j.After) == 0 {
		return nil, nil
	}
	var ids []int64
	for _, d := range j.After {
		ids = append(ids, d.Job)
	}
	jobs, err := l.store.Jobs(ctx, Query{IDs: ids})
	if err != nil {
		return nil, err
	}
	states := map[int64]State{}
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
			blockers = append(blockers, fmt.Sprintf("job %d (%s)", d.Job, states[d.Job]))
		}
	}
	return blockers, nil
}

// tryNow adds a job to a fork, and asks about it there.
func (l *Loop) tryNow(j Job, blockers []string) (a *why.Answer, future *estimator) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.core.Advance(now)
	j.ID, j.Submitted, j.Waiting, j.State = trialID, now, j.Tasks, Waiting
	l.inFork(l.core.Fork(), func() {
		switch {
		case j.Held:
			j.State = Held
		case j.Pending > 0:
			j.State = Blocked
		default:
			s := l.jobOf(headerOf(&j))
			s.Begin = j.Begin
			l.core.Add(s, now)
		}
		a = l.answer(&j)
		a.Subject.Job = 0
		l.whyWaiting(a, &j, nil, blockers, WhyOptions{Siblings: 1, preview: whatIfTasks})
		future = l.estimatorOf(j.ID, now)
		future.tables, future.others = nil, l.alternativesOf(&j, a)
	})
	return a, future
}
