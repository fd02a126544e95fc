package fairlead

import (
	"context"
	"encoding/json"
	"fmt"
)

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
