package fairlead

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// whatIfTasks bounds how many starts are previewed to find the place of a job in a fork,
// while the loop waits.
const whatIfTasks = 20_000

// WhatIf says what would become of a job that waits if it asked for something else. A fork of
// the scheduler answers, in which the job is exchanged. Of a job that waits only priority
// and pool can be changed; for everything else it is cancelled in the fork, and submitted again, as its
// owner would have to do it.
func (l *Loop) WhatIf(ctx context.Context, id int64, v Variation) (*why.WhatIf, error) {
	before, _, err := l.whyNow(ctx, id, WhyOptions{Siblings: 1})
	if err != nil {
		return nil, err
	}
	j, err := l.client.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	if j.State != Waiting {
		return nil, invalid("job", "job %d is %s; ask about one that waits", id, j.State)
	}
	x, err := l.exchange(j, v)
	if err != nil {
		return nil, err
	}
	w := &why.WhatIf{Version: why.Version, At: before.At, Job: id, Name: j.Name, Changes: x.changes, Again: x.again}
	for _, s := range []struct {
		to *why.Standing
		a  *why.Answer
		e  *estimator
	}{{&w.Before, before, x.before}, {&w.After, x.after, x.then}} {
		if startable(s.a) {
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

// startable reports whether it can be said when the job of an answer starts.
func startable(a *why.Answer) bool {
	return a.Reason.Code != "" && (a.Verdict == why.AsDesigned || a.Verdict == why.Limited)
}

// exchanged is what there is to say of a job and of the one in its place.
type exchanged struct {
	changes      []why.Varied
	again        bool
	after        *why.Answer
	before, then *estimator

	now        time.Time
	fork       *sched.Scheduler
	next       *Job
	own, other sched.Job // the job as it is, and in its place
}

// exchange exchanges a job in a fork. Where much waits that takes long, and the loop goes on
// meanwhile: it is locked for the copy, and for a look at what became of the job.
func (l *Loop) exchange(j *Job, v Variation) (*exchanged, error) {
	x, err := l.beginExchange(j, v)
	if err != nil {
		return nil, err
	}
	if x.before.future = x.fork.Future(); x.before.hurried {
		x.before.future = x.before.future.Once() // ranges come from the tables
	}
	x.fork.Withdraw(x.own, x.now)
	if x.again {
		x.fork.Rest()
	}
	x.fork.Add(x.other, x.now)
	o := WhyOptions{Siblings: 1, preview: whatIfTasks}
	var order *Order
	if x.before.hurried {
		order = orderUpTo(x.next.ID, x.fork.Outlook())
	}
	l.mu.Lock()
	l.inFork(x.fork, func() {
		if order != nil {
			o.place = l.tally(x.other).lookUp(order, x.next.ID)
		}
		x.after = l.answer(x.next)
		l.whyWaiting(x.after, x.next, nil, nil, o)
		x.then = l.estimatorIn(x.fork, x.next.ID, x.now)
	})
	l.mu.Unlock()
	x.then.future, x.then.tables = x.fork.AsFuture(), nil
	return x, nil
}

// beginExchange takes what an exchange needs out of the loop.
func (l *Loop) beginExchange(j *Job, v Variation) (*exchanged, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := v.apply(j)
	if err := next.Check(); err != nil {
		return nil, err
	}
	if err := l.shares.settle(&next); err != nil {
		return nil, err
	}
	x := &exchanged{changes: varied(j, &next, l.core.Cluster().Unit()), again: !v.inPlace(), next: &next, now: time.Now()}
	if len(x.changes) == 0 {
		return nil, invalid("what-if", "job %d asks for that already; say what is to be different", j.ID)
	}
	l.core.Advance(x.now)
	x.fork = l.core.Fork()
	x.before = l.estimatorIn(l.core, j.ID, x.now)
	if next.Tasks = j.Waiting; x.again {
		next.ID, next.Submitted = trialID, x.now
	}
	l.inFork(x.fork, func() {
		x.own = l.jobOf(headerOf(j))
		x.other = l.jobOf(headerOf(&next))
		x.other.Begin = next.Begin
	})
	return x, nil
}

// inFork lets f work with a fork in place of the core. The loop is locked.
func (l *Loop) inFork(fork *sched.Scheduler, f func()) {
	core := l.core
	defer func() { l.core = core }()
	l.core = fork
	f()
}
