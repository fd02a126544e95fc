// Package life holds the rules of a job's life that all stores share. They say which state follows, when a task is
// tried again, and which changes the end of a job brings to the jobs that depend on it. It works on values; the stores
// keep them.
package life

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
)

// MaxLosses is how often a task may lose its holder, or find one that cannot begin it. After that the task fails, so
// that a job that kills its agents cannot harm others any longer.
const MaxLosses = 5

// The pause before the second attempt, and the longest pause.
const (
	firstPause   = 5 * time.Second
	longestPause = time.Hour
)

// State derives the state of a job from its counts.
func State(j *queue.Job) queue.State {
	switch {
	case j.Waiting+j.Running == 0 && j.Failed > 0:
		return queue.Failed
	case j.Waiting+j.Running == 0 && j.Cancelled > 0:
		return queue.Cancelled
	case j.Waiting+j.Running == 0:
		return queue.Succeeded
	case j.Running > j.Queued:
		return queue.Running
	case j.Running > 0:
		return queue.Queued
	case j.Held:
		return queue.Held
	case j.Pending > 0:
		return queue.Blocked
	}
	return queue.Waiting
}

// Eligible reports whether the job's waiting tasks may be leased, except for their begin times. Tasks of a gang may not
// be leased until all of them wait.
func Eligible(j *queue.Job) bool {
	return !j.Held && j.Pending == 0 && !j.Cancel && j.Waiting > 0 && (j.Gang < 2 || j.Running == 0)
}

// Admit sets the fields of a submitted job that the store owns. The argument "pending" is the number of its
// dependencies that have not ended.
func Admit(j *queue.Job, id int64, pending int, now time.Time) {
	j.ID, j.Submitted, j.Pending = id, now, pending
	j.Waiting, j.Running, j.Succeeded, j.Failed, j.Cancelled = j.Tasks, 0, 0, 0, 0
	j.Queued = 0
	j.Started, j.Ended, j.Cancel, j.Cause = time.Time{}, time.Time{}, false, ""
	if j.HeldBy, j.HeldWhy = "", ""; j.Held {
		j.HeldBy = j.User
	}
	j.State = State(j)
}

// Start counts a task that is leased now as running.
func Start(j *queue.Job, now time.Time) {
	j.Waiting--
	j.Running++
	if j.Started.IsZero() {
		j.Started = now
	}
	j.State = State(j)
}

// waitsAgain reports whether a task that ended with the outcome waits for another attempt, and from when.
func waitsAgain(j *queue.Job, t *queue.Task, o queue.Outcome, now time.Time) (bool, time.Time) {
	switch {
	case j.Cancel:
		return false, time.Time{}
	case Apart(j):
		return follows(j, t), time.Time{}
	case t.Requeue, t.Stopped && o.State == queue.Cancelled:
		return true, time.Time{}
	case o.State == queue.Cancelled && o.Next != nil:
		return true, now.Add(*o.Next)
	}
	if o.State != queue.Failed || o.Final || t.NoRetry || t.Fails > j.Retries {
		return false, time.Time{}
	}
	if o.Next != nil {
		return true, now.Add(*o.Next)
	}
	return true, now.Add(pause(j.Backoff, t.Fails))
}

// pause returns how long a task waits after its n-th failure.
func pause(backoff time.Duration, n int) time.Duration {
	if backoff == 0 {
		backoff = firstPause
	}
	for ; n > 1 && backoff < longestPause; n-- {
		backoff *= 2
	}
	return min(backoff, longestPause)
}

// lost returns the outcome of an attempt whose holder disappeared: the task waits again, unless its holders disappeared
// too often. The present loss is already counted.
func lost(j *queue.Job, t *queue.Task) (again bool, o queue.Outcome) {
	switch {
	case j.Cancel:
		return false, queue.Outcome{State: queue.Cancelled, Cause: "cancelled; its agent was lost"}
	case Apart(j) && !follows(j, t):
		return false, queue.Outcome{State: queue.Cancelled, Cause: apartEarlier + "; its agent was lost"}
	case Apart(j):
		return true, queue.Outcome{}
	case t.Losses >= MaxLosses:
		return false, queue.Outcome{State: queue.Failed, Cause: fmt.Sprintf("its agents were lost, or could not begin it, %d times", t.Losses)}
	}
	return true, queue.Outcome{}
}

// end removes a running task from the counts: it waits again, or it is over with the outcome.
func end(j *queue.Job, again bool, o queue.Outcome, now time.Time) {
	j.Running--
	switch {
	case again && j.Cancel:
		j.Cancelled++
	case again:
		j.Waiting++
	default:
		count(j, o.State, 1)
		// If only waiting tasks were canceled, the first failure is the cause of the job's end.
		if o.State == queue.Failed && (j.Cause == "" || j.Failed == 1 && !j.Cancel) {
			j.Cause = cause(o)
		}
	}
	settle(j, now)
}

func count(j *queue.Job, s queue.State, n int) {
	switch s {
	case queue.Succeeded:
		j.Succeeded += n
	case queue.Failed:
		j.Failed += n
	default:
		j.Cancelled += n
	}
}

func settle(j *queue.Job, now time.Time) {
	if j.State = State(j); j.State.Ended() {
		j.Ended = now
	}
}

// cause describes how an attempt failed.
func cause(o queue.Outcome) string {
	switch {
	case o.Cause != "":
		return o.Cause
	case o.Signal != "":
		return "ended by signal " + o.Signal
	}
	return fmt.Sprintf("exit status %d", o.ExitCode)
}

// Reset makes an ended job wait again from the start. It ignores the job's dependencies, because the user who requeues
// it wants it to run.
func Reset(j *queue.Job) {
	j.Waiting, j.Running, j.Succeeded, j.Failed, j.Cancelled = j.Tasks, 0, 0, 0, 0
	j.Queued = 0
	j.Cancel, j.Cause, j.Pending = false, "", 0
	j.Started, j.Ended = time.Time{}, time.Time{}
	j.Avoid = nil
	j.State = State(j)
}

// Header returns the part of a job that a scheduler knows.
func Header(j *queue.Job) queue.Header {
	return queue.Header{
		ID: j.ID, User: j.User, Kind: j.Kind, Pool: j.Pool, Priority: j.Priority,
		QOS: j.QOS, Nice: j.Nice, Group: j.Group, Requestor: j.Requestor, Limit: j.Limit,
		Request: j.Request, Constraint: j.Constraint, Reservation: j.Reservation, Licenses: j.Licenses, Rates: j.Rates, Handler: len(j.Argv) == 0, MaxRunning: j.MaxRunning, Tasks: j.Tasks, Gang: j.Gang, Spread: j.Spread,
		Submitted: j.Submitted, Avoid: j.Avoid,
	}
}

// Unmet returns the alteration that cancels a job because it can never start: one of its dependencies did not end as
// required.
func Unmet(d queue.Dependency, ended queue.State) queue.Alteration {
	return queue.Alteration{Verb: queue.VerbCancel, Cause: unmet(d, ended)}
}

func unmet(d queue.Dependency, ended queue.State) string {
	return fmt.Sprintf("it waited for job %d (%s), which ended as %s", d.Job, d.On, ended)
}

// width returns the number of units that a task of the job occupies: at least one.
func width(request queue.Amounts, unit string) float64 {
	return float64(max(1, cluster.WithTypes(request)[unit]))
}

// Rate returns the charge of an attempt each second: the charge that was set when it began, or the amount of the unit
// that it takes.
func Rate(charge float64, request queue.Amounts, unit string) float64 {
	if charge > 0 {
		return charge
	}
	return width(request, unit)
}

// Learns reports whether the length of an attempt helps to predict the length of similar tasks.
func Learns(o queue.Outcome) bool { return o.State != queue.Cancelled }

// Apart reports whether a gang has lost a task, so that its running tasks must be stopped. If a task waits at that
// time, all tasks will wait again; otherwise the job is about to end.
func Apart(j *queue.Job) bool {
	return j.Gang > 1 && j.Running > 0 && j.Waiting+j.Failed+j.Cancelled > 0
}

// follows reports whether the next attempt of a broken gang waits again however it ends, so that no rank will be
// missing.
func follows(j *queue.Job, t *queue.Task) bool { return j.Waiting > 0 || t.Requeue }

// apartEarlier is the reason for holders that may have missed the original one.
const apartEarlier = "another task of its gang has ended early"
