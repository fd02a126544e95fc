package fairlead

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// apply applies one change to the core and passes it on.
func (l *Loop) apply(c Change) {
	now := time.Now()
	l.core.Advance(now) // a pool that is made now is there since now
	switch c.What {
	case Waited:
		l.arrivals.note(c.Job)
		l.wait(c, now)
	case Withdrawn:
		l.core.Withdraw(l.jobOf(c.Job), now)
	case Runs:
		l.adopt(c, now)
	case Stop:
		for _, r := range c.Runs {
			if run := l.runs[taskID{r.JobID, r.Task}]; run != nil && run.ref == r.Ref {
				run.stop = cmp.Or(c.Reason, "stopped")
				l.core.Leave(run.run)
			}
		}
		l.stop(c.Runs, c.Reason)
	case Lost:
		for _, r := range c.Runs {
			l.end(r.Ref, now, false)
			l.stats.Lost++
			l.observer.Lost(r.Ref)
		}
		l.stop(c.Runs, c.Reason)
	case Progressed:
		for _, r := range c.Runs {
			if run := l.runs[taskID{r.JobID, r.Task}]; run != nil && run.ref == r.Ref {
				l.moveOn(run, r, now)
			}
		}
	case Leased:
		l.leased(c, now)
	case Ended, Done:
		l.endedElsewhere(c.Runs, now)
	case Changed:
		l.changed[c.Reason] = true
	}
	l.watchers.publish(eventOf(c))
}

// wait adds tasks that wait.
func (l *Loop) wait(c Change, now time.Time) {
	j := l.jobOf(c.Job)
	for _, w := range c.Waits {
		j.Tasks, j.Begin = w.Tasks, w.Begin
		l.core.Add(j, now)
	}
}

// jobOf translates a header for the core.
func (l *Loop) jobOf(h Header) sched.Job {
	// The core also knows the priorities that were configured when the job came.
	known := l.core.Config().Priorities
	p := slices.IndexFunc(known, func(p sched.Priority) bool { return p.Name == h.Priority })
	if p < 0 {
		p, _ = l.shares.priority(l.shares.defaultPriority())
	}
	return sched.Job{
		ID: h.ID, Pool: l.core.Pool(h.Pool), Priority: p, Most: h.Most, Tasks: h.Tasks,
		Submitted: h.Submitted, Class: l.classOf(h), Limit: h.Limit,
		Shape: l.shapeOf(h),
	}
}

// adopt takes over tasks that run already.
func (l *Loop) adopt(c Change, now time.Time) {
	j := l.jobOf(c.Job)
	for _, r := range c.Runs {
		m, node := l.members[r.Holder], l.nodeOf(r.Holder, now)
		j.Charge = cmp.Or(r.Charge, l.core.Cluster().Width(j.Shape))
		l.forgetRun(taskID{r.JobID, r.Task}, now)
		run := l.core.Adopt(j, node, r.Started, now)
		l.runs[taskID{r.JobID, r.Task}] = &liveRun{
			ref: r.Ref, run: run, member: m, holder: r.Holder, pool: j.Pool, header: c.Job, started: r.Started, came: r.Started,
		}
		if r.Queued {
			l.runs[taskID{r.JobID, r.Task}].came = c.Job.Submitted
			l.moveOn(l.runs[taskID{r.JobID, r.Task}], r, now)
		}
	}
}
