package life

import (
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/usage"
)

// Progress records how far an attempt is in another queueing system, and reports whether that is new.
func Progress(j *queue.Job, t *queue.Task, began, now time.Time) bool {
	switch {
	case began.IsZero() && t.Queued, !began.IsZero() && !t.Queued:
		return false
	case began.IsZero():
		t.Queued = true
		if j.Queued++; j.Queued == j.Running && j.Succeeded+j.Failed+j.Cancelled == 0 && j.Started.Equal(t.Started) {
			j.Started = time.Time{} // set when the first task was leased
		}
	default:
		t.Queued, t.Started = false, usage.Within(began, t.Started, now)
		if j.Queued--; j.Started.IsZero() {
			j.Started = t.Started
		}
	}
	j.State = State(j)
	return true
}

// Ends records when an attempt began, if that was unknown, and returns when it ended: the instant "now" less the delay
// "late". Call it before the attempt ends with a result.
func Ends(j *queue.Job, t *queue.Task, res queue.Result, late time.Duration, now time.Time) (ended time.Time) {
	if !res.Began.IsZero() {
		Progress(j, t, res.Began, now)
	}
	return usage.Within(now.Add(-late), t.Started, now)
}

// Plain reports whether a result contains no times, so that the time of its arrival counts.
func Plain(res queue.Result, late time.Duration) bool { return res.Began.IsZero() && late == 0 }

// Served returns from when to when an ending attempt received service, and whether its length helps to predict others.
// An attempt that never began received no service.
func Served(t *queue.Task, ended time.Time, learn bool) (from, to time.Time, learns bool) {
	if t.Queued {
		return ended, ended, false
	}
	return t.Started, ended, learn
}

// ProgressChange returns the change for an attempt that waits in another queueing system, or began there.
func ProgressChange(j *queue.Job, t *queue.Task, now time.Time) queue.Change {
	return queue.Change{What: queue.Progressed, Job: Header(j), State: j.State, Runs: []queue.Run{Run(t)}, At: now}
}
