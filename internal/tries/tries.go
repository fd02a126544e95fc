// Package tries has the errors with which a handler says whether its task is tried again, and when. It does
// not depend on the packages that run handlers.
package tries

import (
	"errors"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Permanent marks an error of a handler that no further attempt would fix. The task fails, whatever
// Job.Retries is. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }

func (e *permanentError) Unwrap() error { return e.err }

// Snooze ends an attempt of a handler that has nothing to do yet: its task runs again after a pause. The
// attempt is no failure, and does not count against the retries of the job. After the pause the task waits
// for its turn, so it starts later if others go first.
func Snooze(pause time.Duration) error { return &nextError{after: max(0, pause)} }

// RetryAfter marks an error of a handler with the pause before the next attempt, instead of Job.Backoff. The
// job must still allow another attempt: see Job.Retries. RetryAfter(pause, nil) is nil.
func RetryAfter(pause time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &nextError{err: err, after: max(0, pause)}
}

// nextError is an error of a handler that chooses the time of the next attempt.
type nextError struct {
	err   error // nil: the task has not failed
	after time.Duration
}

func (e *nextError) Error() string {
	if e.err == nil {
		return "put off for " + e.after.String()
	}
	return e.err.Error()
}

func (e *nextError) Unwrap() error { return e.err }

// Outcome returns the outcome of an attempt whose handler returned an error.
func Outcome(err error) queue.Outcome {
	o := queue.Outcome{State: queue.Failed, Cause: err.Error()}
	var permanent *permanentError
	var next *nextError
	switch {
	case errors.As(err, &permanent):
		o.Final = true
	case errors.As(err, &next):
		pause := min(next.after, queue.MaxLimit)
		if o.Next = &pause; next.err == nil {
			o.State = queue.Cancelled
		}
	}
	return o
}
