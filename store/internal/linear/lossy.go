package linear

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// lossy is a store that sometimes loses answers: the call fails, and is executed at once, later or never.
type lossy struct {
	queue.Store
	longest time.Duration // longest delay
	late    sync.WaitGroup

	mu  sync.Mutex // guards the following fields
	rng *rand.Rand
}

// One of lossRate calls is lost. Of the expiries, one in five times as many is lost, because they concern all
// tasks.
const lossRate = 20

var errLost = errors.New("the answer was lost")

// loses may lose a call: one of lossRate x times calls.
func (l *lossy) loses(times int, call func(context.Context)) bool {
	l.mu.Lock()
	lost, how, later := l.rng.IntN(lossRate*times) == 0, l.rng.IntN(3), time.Duration(l.rng.Int64N(int64(l.longest)))
	l.mu.Unlock()
	switch {
	case !lost:
	case how == 0:
		call(context.Background())
	case how == 1:
		l.late.Go(func() {
			time.Sleep(later)
			call(context.Background())
		})
	}
	return lost
}

// Lease implements queue.Store.
func (l *lossy) Lease(ctx context.Context, holder string, wants []queue.Want, ttl time.Duration) ([]queue.Grant, error) {
	if l.loses(1, func(ctx context.Context) { l.Store.Lease(ctx, holder, wants, ttl) }) {
		return nil, errLost
	}
	return l.Store.Lease(ctx, holder, wants, ttl)
}

// Renew implements queue.Store.
func (l *lossy) Renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	if l.loses(1, func(ctx context.Context) { l.Store.Renew(ctx, refs, ttl) }) {
		return nil, errLost
	}
	return l.Store.Renew(ctx, refs, ttl)
}

// Finish implements queue.Store.
func (l *lossy) Finish(ctx context.Context, results []queue.Result) ([]queue.Verdict, error) {
	if l.loses(1, func(ctx context.Context) { l.Store.Finish(ctx, results) }) {
		return nil, errLost
	}
	return l.Store.Finish(ctx, results)
}

// Release implements queue.Store.
func (l *lossy) Release(ctx context.Context, refs []queue.Ref) ([]error, error) {
	if l.loses(1, func(ctx context.Context) { l.Store.Release(ctx, refs) }) {
		return nil, errLost
	}
	return l.Store.Release(ctx, refs)
}

// Expire implements queue.Store.
func (l *lossy) Expire(ctx context.Context, holder string) ([]queue.Ref, error) {
	if l.loses(5, func(ctx context.Context) { l.Store.Expire(ctx, holder) }) {
		return nil, errLost
	}
	return l.Store.Expire(ctx, holder)
}

// Close executes late calls, and closes the store.
func (l *lossy) Close() error {
	l.late.Wait()
	return l.Store.Close()
}
