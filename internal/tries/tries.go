// Package tries has the errors that a handler returns to say whether its task is tried again, and when. It knows
// nothing of those who run handlers.
package tries

import (
	"errors"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Permanent marks an error of a handler as one that no further try would mend. The task has
// failed, whatever Job.Retries says. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }

func (e *permanentError) Unwrap() error { return e.err }

// Snooze ends an attempt of a handler that has nothing to do yet: its task runs again after a pause. That is no
// failure and none of the tries of its job. The task waits for its turn then, and starts later where others go first.
func Snooze(pause time.Duration) error { return &nextError{after: max(0, pause)} }

// RetryAfter marks an error of a handler with the pause before the next try, in the place of Job.Backoff. The job still
// has to allow a next try: see Job.Retries. RetryAfter(pause, nil) is nil.
func RetryAfter(pause time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &nextError{err: err, after: max(0, pause)}
}

// nextError is an error of a handler that chooses when its task is tried again.
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

// Outcome is how an attempt ended whose handler returned an error.
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
