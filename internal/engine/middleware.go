package engine

import (
	"context"
	"slices"

	"github.com/fairlead/fairlead/queue"
)

// Handler does the work of one kind of job.
type Handler interface {
	// Handle runs one task. The context ends when the job is canceled, its time limit is over, or the lease is lost;
	// its cause says which. A nil error is success. A task that returns an error runs again as often as its job
	// allows.
	Handle(ctx context.Context, l *queue.Lease) error
}

// HandlerFunc adapts a function to a [Handler].
type HandlerFunc func(ctx context.Context, l *queue.Lease) error

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, l *queue.Lease) error { return f(ctx, l) }

// Middleware wraps a handler in another, to do something before and after every task: logs, traces, metrics,
// transactions.
type Middleware func(next Handler) Handler

// wrap puts middleware around handlers.
func wrap(handlers map[string]Handler, all []Middleware) map[string]Handler {
	out := make(map[string]Handler, len(handlers))
	for kind, h := range handlers {
		for _, m := range slices.Backward(all) {
			h = m(h)
		}
		out[kind] = h
	}
	return out
}
