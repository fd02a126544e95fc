package life

import (
	"time"

	"github.com/fairlead/fairlead/queue"
)

// AddWaits adds one task that waits until its begin time.
func AddWaits(w []queue.Waits, begin time.Time) []queue.Waits {
	for i := range w {
		if w[i].Begin.Equal(begin) {
			w[i].Tasks++
			return w
		}
	}
	return append(w, queue.Waits{Tasks: 1, Begin: begin})
}

// NewLease returns the lease of a task that was just leased.
func NewLease(j *queue.Job, t *queue.Task) *queue.Lease {
	return &queue.Lease{Ref: Ref(t), Job: j, Number: t.Number, Holder: t.Holder, Started: t.Started, Until: t.Until}
}

// Run returns a running task in the form of a change.
func Run(t *queue.Task) queue.Run {
	return queue.Run{Ref: Ref(t), Holder: t.Holder, Started: t.Started, Queued: t.Queued, Charge: t.Charge}
}

// RunsChanges returns the changes of a snapshot for the running tasks of a job, and for the tasks that must be stopped.
func RunsChanges(j *queue.Job, tasks []queue.Task, now time.Time) []queue.Change {
	change := func(what queue.What, reason string) queue.Change {
		return queue.Change{What: what, Job: Header(j), State: j.State, Reason: reason, At: now}
	}
	runs, requeued, stopped := change(queue.Runs, ""), change(queue.Stop, "requeued"), change(queue.Stop, stoppedEarlier)
	apart := change(queue.Stop, apartEarlier)
	if j.Cancel {
		requeued.Reason = j.Cause
	}
	for i := range tasks {
		t := &tasks[i]
		runs.Runs = append(runs.Runs, Run(t))
		switch {
		case j.Cancel || t.Requeue:
			requeued.Runs = append(requeued.Runs, Run(t))
		case t.Stopped:
			stopped.Runs = append(stopped.Runs, Run(t))
		case Apart(j):
			apart.Runs = append(apart.Runs, Run(t))
		}
	}
	all := []queue.Change{runs}
	for _, c := range []queue.Change{requeued, stopped, apart} {
		if len(c.Runs) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// LostChange returns the change for an attempt whose holder disappeared.
func LostChange(j *queue.Job, t *queue.Task, ref queue.Ref, now time.Time) queue.Change {
	return queue.Change{
		What: queue.Lost, Job: Header(j), State: j.State, Reason: "agent lost", At: now,
		Runs: []queue.Run{{Ref: ref, Holder: t.Holder, Started: t.Started}},
	}
}

// StopEvent returns the event of a stop for the job's history.
func StopEvent(s *queue.Stopped) queue.Event {
	return queue.Event{Job: s.Ref.JobID, Task: s.Ref.Task, At: s.Reason.At, Code: "stopped", Text: s.Reason.Line()}
}

// StopChange returns the change that makes the holder of an attempt stop it.
func StopChange(j *queue.Job, t *queue.Task, s *queue.Stopped, now time.Time) queue.Change {
	return queue.Change{
		What: queue.Stop, Job: Header(j), State: j.State, At: now,
		Runs: []queue.Run{Run(t)}, Reason: stoppedEarlier + " (rule " + s.Reason.Rule + ")",
	}
}

// stoppedEarlier is the reason that the holder of an attempt receives.
const stoppedEarlier = "stopped by the scheduler to make room; it runs again"
