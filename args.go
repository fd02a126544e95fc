package fairlead

import (
	"context"
	"encoding/json"
	"fmt"
)

// Work is a task for a handler that [HandlerOf] made: its lease, and the arguments of its job.
type Work[A Args] struct {
	*Lease
	Args A
}

// HandlerOf makes a handler from a function that receives the arguments of the job. Arguments that cannot be decoded
// are a permanent failure: another attempt would not help.
func HandlerOf[A Args](f func(ctx context.Context, w *Work[A]) error) Handler {
	return HandlerFunc(func(ctx context.Context, l *Lease) error {
		w := &Work[A]{Lease: l}
		if err := json.Unmarshal(l.Job.Payload, &w.Args); err != nil {
			return Permanent(fmt.Errorf("arguments of kind %q: %w", l.Job.Kind, err))
		}
		return f(ctx, w)
	})
}
