package fairlead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Args are what a handler of one kind of job gets: a struct of your program, which is kept
// as JSON. Jobs that wait outlive your program, so add fields rather than change what they
// mean.
type Args interface {
	// Kind names the kind of job. It is the same for all values, also for the zero value.
	Kind() string
}

// EncodeArgs makes the payload and the kind of a job out of its arguments, if it has any. Clients
// do it at submission.
func (j *Job) EncodeArgs() error {
	if j.Args == nil {
		return nil
	}
	kind := j.Args.Kind()
	switch {
	case len(j.Payload) > 0:
		return invalid("args", "a job has either arguments or a payload")
	case j.Kind != "" && j.Kind != kind:
		return invalid("args", "the job is of the kind %q, and its arguments are of the kind %q; leave out Job.Kind", j.Kind, kind)
	}
	data, err := json.Marshal(j.Args)
	if err != nil {
		return invalid("args", "%T: %v", j.Args, err)
	}
	j.Kind, j.Payload, j.Args = kind, data, nil
	return nil
}

// Work is a task for a handler that was made by [HandlerOf]: its lease, and the arguments of
// its job.
type Work[A Args] struct {
	*Lease
	Args A
}

// HandlerOf makes a handler of a function that gets the arguments of the job. Arguments that
// cannot be read are a failure that is not tried again: they will not get better.
func HandlerOf[A Args](f func(ctx context.Context, w *Work[A]) error) Handler {
	return HandlerFunc(func(ctx context.Context, l *Lease) error {
		w := &Work[A]{Lease: l}
		if err := json.Unmarshal(l.Job.Payload, &w.Args); err != nil {
			return Permanent(fmt.Errorf("arguments of kind %q: %w", l.Job.Kind, err))
		}
		return f(ctx, w)
	})
}

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

func isPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}
