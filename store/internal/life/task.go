package life

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Lease begins the next attempt of a task.
func Lease(t *queue.Task, holder string, charge float64, now, until time.Time) {
	t.Charge = charge
	t.State, t.Holder, t.Started, t.Until = queue.Running, holder, now, until
	t.Queued, t.Alone = false, false
	t.Attempt++
	t.Ended, t.Begin, t.Outcome = time.Time{}, time.Time{}, queue.Outcome{}
}

// Check returns an error if the outcome of an attempt is invalid: an attempt ends in one of three ways, and only its
// holder knows in which.
func Check(o queue.Outcome) error {
	switch o.State {
	case queue.Succeeded, queue.Failed, queue.Cancelled:
		if err := checkNext(o); err != nil {
			return err
		}
		return checkRefused(o)
	}
	return &queue.Invalid{Field: "state", Msg: fmt.Sprintf("an attempt ends as %s, %s or %s, not as %q",
		queue.Succeeded, queue.Failed, queue.Cancelled, o.State)}
}

// checkNext checks the time of the next attempt.
func checkNext(o queue.Outcome) error {
	switch {
	case o.Next == nil:
		return nil
	case o.State == queue.Succeeded || o.Final || o.Refused != "":
		return queue.Invalidf("next", "must be absent if the attempt succeeded, failed for good or did not begin")
	case *o.Next < 0 || *o.Next > queue.MaxLimit:
		return queue.Invalidf("next", "the pause before the next attempt must be from 0 to ten years, got %v", *o.Next)
	}
	return nil
}

// checkRefused checks an outcome of a task that did not begin.
func checkRefused(o queue.Outcome) error {
	switch {
	case o.Refused == "":
		return nil
	case o.State != queue.Failed:
		return &queue.Invalid{Field: "refused", Msg: fmt.Sprintf("an attempt that did not begin ends as %s, not as %s", queue.Failed, o.State)}
	case o.Refused != queue.RefusedNow && !slices.Contains(queue.Refusals(), o.Refused):
		return &queue.Invalid{Field: "refused", Msg: fmt.Sprintf("%q is not known", o.Refused)}
	}
	return nil
}

// Finish ends the attempt of a task with an outcome and reports whether the task waits for another attempt; a pause
// counts from when the attempt ended.
func Finish(j *queue.Job, t *queue.Task, o queue.Outcome, ended time.Time) bool {
	if o.State == queue.Failed && !t.Requeue && !Apart(j) {
		t.Fails++
	}
	again, begin := waitsAgain(j, t, o, ended)
	stop(j, t, o, ended)
	if again {
		t.State, t.Begin, t.Queued = queue.Waiting, begin, false
	}
	t.Alone = !again && o.State == queue.Cancelled && !j.Cancel
	end(j, again, o, ended)
	return again && !j.Cancel
}

// Lose ends the attempt of a task whose holder disappeared and reports whether the
// task waits again.
func Lose(j *queue.Job, t *queue.Task, now time.Time) bool {
	if !Apart(j) && !t.Queued { // an attempt that did not begin has harmed nobody
		t.Losses++
	}
	again, o := lost(j, t)
	stop(j, t, o, now)
	if again {
		t.State, t.Queued = queue.Waiting, false
	}
	end(j, again, o, now)
	return again
}

// Release returns a task whose attempt did no work.
func Release(j *queue.Job, t *queue.Task, now time.Time) bool {
	o := queue.Outcome{}
	over := j.Cancel || Apart(j) && !follows(j, t)
	if over {
		o = queue.Outcome{State: queue.Cancelled}
	}
	stop(j, t, o, now)
	if !over {
		t.State, t.Queued = queue.Waiting, false
	}
	end(j, !over, o, now)
	unstart(j, t.Started)
	return !over
}

func stop(j *queue.Job, t *queue.Task, o queue.Outcome, now time.Time) {
	if t.Queued {
		j.Queued--
	}
	o.Next, o.NotFound = nil, false
	t.State, t.Outcome, t.Ended, t.Until = o.State, o, now, time.Time{}
	t.Requeue, t.Stopped = false, false
}

// unstart clears the start of a job if it was the start of an attempt that did not begin, and no other start is
// known.
func unstart(j *queue.Job, started time.Time) {
	if j.Running+j.Succeeded+j.Failed+j.Cancelled == 0 && j.Started.Equal(started) {
		j.Started = time.Time{}
	}
}

// Ref names the current attempt of a task.
func Ref(t *queue.Task) queue.Ref {
	return queue.Ref{JobID: t.Job, Task: t.Index, Attempt: t.Attempt}
}
