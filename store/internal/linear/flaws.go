package linear

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// early is a faulty store: leases run out too early.
type early struct {
	queue.Store
	by time.Duration
}

// Lease implements queue.Store.
func (e early) Lease(ctx context.Context, holder string, wants []queue.Want, ttl time.Duration) ([]queue.Grant, error) {
	return e.Store.Lease(ctx, holder, wants, ttl-e.by)
}

// Renew implements queue.Store.
func (e early) Renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	return e.Store.Renew(ctx, refs, ttl-e.by)
}

// looseRenewal is a faulty store: every former holder of a task may still renew it.
type looseRenewal struct{ queue.Store }

// Renew implements queue.Store.
func (l looseRenewal) Renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	return Unfenced(l).Renew(ctx, refs, ttl)
}

// forgetful is a faulty store: it does not return one of the attempts that it ended.
type forgetful struct{ queue.Store }

// Expire implements queue.Store.
func (f forgetful) Expire(ctx context.Context, holder string) ([]queue.Ref, error) {
	lost, err := f.Store.Expire(ctx, holder)
	return lost[:max(0, len(lost)-1)], err
}

// flaws are the faults that a check must detect.
var flaws = map[string]func(queue.Store) queue.Store{
	"without a fence":                    func(s queue.Store) queue.Store { return Unfenced{s} },
	"with leases that run out early":     func(s queue.Store) queue.Store { return early{s, 60 * time.Millisecond} },
	"that renews for any attempt":        func(s queue.Store) queue.Store { return looseRenewal{s} },
	"that is silent about lost attempts": func(s queue.Store) queue.Store { return forgetful{s} },
}
