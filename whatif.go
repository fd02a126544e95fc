package fairlead

import (
	"context"
	"time"

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
	before, _, err := l.whyNow(ctx, id, WhyOptions{Siblings: 1, Estimate: true})
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
}

// exchange exchanges a job in a fork.
func (l *Loop) exchange(j *Job, v Variation) (*exchanged, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := v.apply(j)
	if err := next.Check(); err != nil {
		return nil, err
	}
	if err := l.shares.settle(&next); err != nil {
		return nil, err
	}
	x := &exchanged{changes: varied(j, &next, l.core.Cluster().Unit()), again: !v.inPlace()}
	if len(x.changes) == 0 {
		return nil, invalid("what-if", "job %d asks for that already; say what is to be different", j.ID)
	}
	now := time.Now()
	l.core.Advance(now)
	x.before = l.estimatorOf(j.ID, now)
	l.inFork(func() {
		l.core.Withdraw(l.jobOf(headerOf(j)), now)
		next.Tasks = j.Waiting
		if x.again {
			l.core.Rest()
			next.ID, next.Submitted = trialID, now
		}
		s := l.jobOf(headerOf(&next))
		s.Begin = next.Begin
		l.core.Add(s, now)
		x.after = l.answer(&next)
		l.whyWaiting(x.after, &next, nil, nil, WhyOptions{Siblings: 1, preview: whatIfTasks})
		x.then = l.estimatorOf(next.ID, now)
		x.then.tables = nil
	})
	return x, nil
}

// inFork lets f work with a fork in place of the core. The loop is locked.
func (l *Loop) inFork(f func()) {
	core := l.core
	defer func() { l.core = core }()
	l.core = core.Fork()
	f()
}
