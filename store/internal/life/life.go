// Package life holds the rules of a job's life that all stores share: which state
// follows, when a task is tried again, what becomes of jobs that depend on one that
// ended. It works on values; keeping them is the stores' part.
package life

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cluster"
)

// MaxLosses is how often a task may lose its holder. A job that kills its agents is
// then set aside, so that it hurts nobody else.
const MaxLosses = 5

// The pause before the second try, and the longest.
const (
	firstPause   = 5 * time.Second
	longestPause = time.Hour
)

// State is the state of a job, by its counts.
func State(j *fairlead.Job) fairlead.State {
	switch {
	case j.Waiting+j.Running == 0 && j.Failed > 0:
		return fairlead.Failed
	case j.Waiting+j.Running == 0 && j.Cancelled > 0:
		return fairlead.Cancelled
	case j.Waiting+j.Running == 0:
		return fairlead.Succeeded
	case j.Running > j.Queued:
		return fairlead.Running
	case j.Running > 0:
		return fairlead.Queued
	case j.Held:
		return fairlead.Held
	case j.Pending > 0:
		return fairlead.Blocked
	}
	return fairlead.Waiting
}

// Eligible reports whether the job's waiting tasks may be leased, their begin times
// apart. Those of a gang wait until all do.
func Eligible(j *fairlead.Job) bool {
	return !j.Held && j.Pending == 0 && !j.Cancel && j.Waiting > 0 && (j.Gang < 2 || j.Running == 0)
}

// Admit sets the fields of a submitted job that the store owns. pending is how many
// of the jobs it depends on have not ended.
func Admit(j *fairlead.Job, id int64, pending int, now time.Time) {
	j.ID, j.Submitted, j.Pending = id, now, pending
	j.Waiting, j.Running, j.Succeeded, j.Failed, j.Cancelled = j.Tasks, 0, 0, 0, 0
	j.Queued = 0
	j.Started, j.Ended, j.Cancel, j.Cause = time.Time{}, time.Time{}, false, ""
	j.State = State(j)
}

// Start counts a task in that is leased now.
func Start(j *fairlead.Job, now time.Time) {
	j.Waiting--
	j.Running++
	if j.Started.IsZero() {
		j.Started = now
	}
	j.State = State(j)
}

// Again says whether a task that ended with the outcome waits for another try, and
// from when.
func Again(j *fairlead.Job, t *fairlead.Task, o fairlead.Outcome, now time.Time) (bool, time.Time) {
	switch {
	case j.Cancel:
		return false, time.Time{}
	case Apart(j):
		return follows(j, t), time.Time{}
	case t.Requeue, t.Stopped && o.State == fairlead.Cancelled:
		return true, time.Time{}
	}
	if o.State != fairlead.Failed || o.Final || t.Fails > j.Retries {
		return false, time.Time{}
	}
	return true, now.Add(Pause(j.Backoff, t.Fails))
}

// Pause is how long a task waits after its n-th failure.
func Pause(backoff time.Duration, n int) time.Duration {
	if backoff == 0 {
		backoff = firstPause
	}
	for ; n > 1 && backoff < longestPause; n-- {
		backoff *= 2
	}
	return min(backoff, longestPause)
}

// Lost is the outcome of an attempt whose holder disappeared: the task waits again,
// unless that happened too often. The loss is counted already.
func Lost(j *fairlead.Job, t *fairlead.Task) (again bool, o fairlead.Outcome) {
	switch {
	case j.Cancel:
		return false, fairlead.Outcome{State: fairlead.Cancelled, Cause: "cancelled; its agent was lost"}
	case Apart(j) && !follows(j, t):
		return false, fairlead.Outcome{State: fairlead.Cancelled, Cause: apartEarlier + "; its agent was lost"}
	case Apart(j):
		return true, fairlead.Outcome{}
	case t.Losses >= MaxLosses:
		return false, fairlead.Outcome{State: fairlead.Failed, Cause: fmt.Sprintf("its agent was lost %d times", t.Losses)}
	}
	return true, fairlead.Outcome{}
}

// End counts a running task out: it waits again, or it is over with the outcome.
func End(j *fairlead.Job, again bool, o fairlead.Outcome, now time.Time) {
	j.Running--
	switch {
	case again && j.Cancel:
		j.Cancelled++
	case again:
		j.Waiting++
	default:
		count(j, o.State, 1)
		if o.State == fairlead.Failed && j.Cause == "" {
			j.Cause = Cause(o)
		}
	}
	settle(j, now)
}

func count(j *fairlead.Job, s fairlead.State, n int) {
	switch s {
	case fairlead.Succeeded:
		j.Succeeded += n
	case fairlead.Failed:
		j.Failed += n
	default:
		j.Cancelled += n
	}
}

func settle(j *fairlead.Job, now time.Time) {
	if j.State = State(j); j.State.Ended() {
		j.Ended = now
	}
}

// Cause says in words how an attempt failed.
func Cause(o fairlead.Outcome) string {
	switch {
	case o.Cause != "":
		return o.Cause
	case o.Signal != "":
		return "ended by signal " + o.Signal
	}
	return fmt.Sprintf("exit status %d", o.ExitCode)
}

// Cancel cancels what of a job waits; what runs is to be stopped by its holders. It
// returns false if the job has ended.
func Cancel(j *fairlead.Job, cause string, now time.Time) bool {
	if j.State.Ended() {
		return false
	}
	j.Cancelled += j.Waiting
	j.Waiting = 0
	j.Cancel = true
	j.Cause = cause
	settle(j, now)
	return true
}

// Reset makes an ended job wait again from the start. It does not wait again for the
// jobs that it depended on: whoever requeues it wants it to run.
func Reset(j *fairlead.Job) {
	j.Waiting, j.Running, j.Succeeded, j.Failed, j.Cancelled = j.Tasks, 0, 0, 0, 0
	j.Queued = 0
	j.Cancel, j.Cause, j.Pending = false, "", 0
	j.Started, j.Ended = time.Time{}, time.Time{}
	j.State = State(j)
}

// Header is what a scheduler knows of the job.
func Header(j *fairlead.Job) fairlead.Header {
	return fairlead.Header{
		ID: j.ID, User: j.User, Kind: j.Kind, Pool: j.Pool, Priority: j.Priority,
		QOS: j.QOS, Nice: j.Nice, Group: j.Group, Requestor: j.Requestor, Limit: j.Limit,
		Request: j.Request, Constraint: j.Constraint, Reservation: j.Reservation, Licenses: j.Licenses, Rates: j.Rates, Handler: len(j.Argv) == 0, Most: j.Most, Tasks: j.Tasks, Gang: j.Gang, Spread: j.Spread,
		Submitted: j.Submitted,
	}
}

// Unmet is why a job can never start because of a job that it depended on.
func Unmet(d fairlead.Dependency, ended fairlead.State) string {
	return fmt.Sprintf("it waited for job %d (%s), which ended as %s", d.Job, d.On, ended)
}

// Width is how many units a task of the job occupies: at least one.
func Width(request fairlead.Amounts, unit string) float64 {
	return float64(max(1, cluster.WithTypes(request)[unit]))
}

// Rate is what an attempt is charged each second: what was said when it began, or what it
// takes of the unit.
func Rate(charge float64, request fairlead.Amounts, unit string) float64 {
	if charge > 0 {
		return charge
	}
	return Width(request, unit)
}

// Learns reports whether the length of an attempt says something about how long
// such tasks run.
func Learns(o fairlead.Outcome) bool { return o.State != fairlead.Cancelled }
