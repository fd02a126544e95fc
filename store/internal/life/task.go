package life

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
)

// Lease begins the next attempt of a task.
func Lease(t *fairlead.Task, holder string, charge float64, now, until time.Time) {
	t.Charge = charge
	t.State, t.Holder, t.Started, t.Until = fairlead.Running, holder, now, until
	t.Queued = false
	t.Attempt++
	t.Ended, t.Begin, t.Outcome = time.Time{}, time.Time{}, fairlead.Outcome{}
}

// Check says what is wrong with the outcome of an attempt: an attempt ends in one of
// three ways, and only its holder knows in which.
func Check(o fairlead.Outcome) error {
	switch o.State {
	case fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled:
		return nil
	}
	return &fairlead.Invalid{Field: "state", Msg: fmt.Sprintf("an attempt ends as %s, %s or %s, not as %q",
		fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, o.State)}
}

// Finish ends the attempt of a task with an outcome and reports whether it waits for
// another try. It ended at an instant, of which is known now.
func Finish(j *fairlead.Job, t *fairlead.Task, o fairlead.Outcome, ended, now time.Time) bool {
	if o.State == fairlead.Failed && !t.Requeue && !Apart(j) {
		t.Fails++
	}
	again, begin := Again(j, t, o, now)
	stop(j, t, o, ended)
	if again {
		t.State, t.Begin, t.Queued = fairlead.Waiting, begin, false
	}
	End(j, again, o, ended)
	return again && !j.Cancel
}

// Lose ends the attempt of a task whose holder disappeared and reports whether the
// task waits again.
func Lose(j *fairlead.Job, t *fairlead.Task, now time.Time) bool {
	if !Apart(j) && !t.Queued { // what did not begin has hurt nobody
		t.Losses++
	}
	again, o := Lost(j, t)
	stop(j, t, o, now)
	if again {
		t.State, t.Queued = fairlead.Waiting, false
	}
	End(j, again, o, now)
	return again
}

// Release takes a task back whose attempt did no work.
func Release(j *fairlead.Job, t *fairlead.Task, now time.Time) bool {
	o := fairlead.Outcome{}
	over := j.Cancel || Apart(j) && !follows(j, t)
	if over {
		o = fairlead.Outcome{State: fairlead.Cancelled}
	}
	stop(j, t, o, now)
	if !over {
		t.State, t.Queued = fairlead.Waiting, false
	}
	End(j, !over, o, now)
	return !over
}

func stop(j *fairlead.Job, t *fairlead.Task, o fairlead.Outcome, now time.Time) {
	if t.Queued {
		j.Queued--
	}
	t.State, t.Outcome, t.Ended, t.Until = o.State, o, now, time.Time{}
	t.Requeue, t.Stopped = false, false
}

// StopEvent is the entry of a stop in the job's history.
func StopEvent(s *fairlead.Stopped) fairlead.Event {
	return fairlead.Event{Job: s.Ref.JobID, Task: s.Ref.Task, At: s.Reason.At, Code: "stopped", Text: s.Reason.Line()}
}

// StopChange tells the holder of an attempt to end it.
func StopChange(j *fairlead.Job, t *fairlead.Task, s *fairlead.Stopped, now time.Time) fairlead.Change {
	return fairlead.Change{
		What: fairlead.Stop, Job: Header(j), State: j.State, At: now,
		Runs: []fairlead.Run{Run(t)}, Reason: stoppedEarlier + " (rule " + s.Reason.Rule + ")",
	}
}

// stoppedEarlier is what the holder of an attempt is told.
const stoppedEarlier = "stopped by the scheduler to make room; it runs again"

// Ref names the current attempt of a task.
func Ref(t *fairlead.Task) fairlead.Ref {
	return fairlead.Ref{JobID: t.Job, Task: t.Index, Attempt: t.Attempt}
}
