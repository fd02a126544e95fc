package linear

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Unfenced is a faulty store: it ignores the number of an attempt, so that every former holder of a task may still
// renew, end or release the present holder's attempt. A check that accepts it is worthless.
type Unfenced struct{ queue.Store }

// current returns the current attempt in place of the named one.
func (u Unfenced) current(ctx context.Context, r queue.Ref) queue.Ref {
	tasks, err := u.Tasks(ctx, r.JobID)
	if err != nil {
		return r
	}
	for _, k := range tasks {
		if k.Index == r.Task {
			r.Attempt = k.Attempt
		}
	}
	return r
}

func (u Unfenced) all(ctx context.Context, refs []queue.Ref) []queue.Ref {
	out := make([]queue.Ref, len(refs))
	for i, r := range refs {
		out[i] = u.current(ctx, r)
	}
	return out
}

// Renew implements queue.Store.
func (u Unfenced) Renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	return u.Store.Renew(ctx, u.all(ctx, refs), ttl)
}

// Release implements queue.Store.
func (u Unfenced) Release(ctx context.Context, refs []queue.Ref) ([]error, error) {
	return u.Store.Release(ctx, u.all(ctx, refs))
}

// Finish implements queue.Store.
func (u Unfenced) Finish(ctx context.Context, results []queue.Result) ([]queue.Verdict, error) {
	out := make([]queue.Result, len(results))
	for i, r := range results {
		out[i] = r
		out[i].Ref = u.current(ctx, r.Ref)
	}
	return u.Store.Finish(ctx, out)
}
