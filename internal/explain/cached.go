package explain

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
)

// Cached is a value that many callers ask for and that is costly to compute from the state of the engine. It is
// computed in the background, on a fork, and shared. While the state changes, a value may be used for 20 times the time
// that it took to compute, or for another multiple if "times" is set. So however many callers ask, computing takes a
// small part of the time. While the version of the state stays the same, a value may be used for cachedRest or for that
// multiple, whichever is longer. It may not be used forever, because running tasks are charged meanwhile, and that
// changes the order.
type Cached[T any] struct {
	mu     sync.Mutex
	times  int // 0 means cachedTimes
	last   *T
	of     uint64 // version of the state it was computed from
	at     time.Time
	took   time.Duration
	making chan struct{} // closed when the next one is ready; nil: none is being computed
}

const (
	cachedTimes = 20
	cachedRest  = time.Second
)

// CachedTimes returns a cache whose values may be used for a multiple of the time that they took to compute.
func CachedTimes[T any](times int) Cached[T] { return Cached[T]{times: times} }

// fresh reports whether the last value may be used for this version of the state.
func (c *Cached[T]) fresh(version uint64) bool {
	age := time.Since(c.at)
	return c.last != nil && (version == c.of && age < cachedRest ||
		age < time.Duration(cmp.Or(c.times, cachedTimes))*c.took)
}

// Peek returns the last value, however old, and whether it is fresh.
func (c *Cached[T]) Peek(l *engine.Loop) (last *T, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return engine.Read2(l, func(s *engine.State) (last *T, fresh bool) {
		return c.last, c.fresh(s.Version)
	})
}

// Ask returns a fresh value if there is one or if it can be computed within the time "wait". Otherwise it returns the
// last value, or nil. A computation that has begun continues for the next caller. The function "begin" copies the
// needed data from the state, and returns a function that computes the value without the lock.
func (c *Cached[T]) Ask(ctx context.Context, l *engine.Loop, wait time.Duration,
	begin func(*engine.State, time.Time) func() *T) *T {
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		last, ready := c.begun(l, begin)
		if ready == nil {
			return last
		}
		select {
		case <-ready:
		case <-over.C:
			return last
		case <-ctx.Done():
			return last
		}
	}
}

// begun starts the computation of a value unless the last one is fresh or a computation is running.
func (c *Cached[T]) begun(l *engine.Loop, begin func(*engine.State, time.Time) func() *T) (last *T,
	ready <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return engine.Read2(l, func(s *engine.State) (last *T, ready <-chan struct{}) {
		switch {
		case c.fresh(s.Version):
			return c.last, nil
		case c.making != nil:
			return c.last, c.making
		}
		now, version := time.Now(), s.Version
		s.Core.Advance(now)
		work, made := begin(s, now), make(chan struct{})
		c.making = made
		go func() {
			next := work()
			c.mu.Lock()
			c.last, c.of, c.at, c.took, c.making = next, version, now, time.Since(now), nil
			c.mu.Unlock()
			close(made)
		}()
		return c.last, made
	})
}
