package fairlead

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// lately is something that takes long to work out of the state of the loop and that many ask
// for. It is worked out beside the loop, on a fork, and shared. While the state changes it may
// be so many times as old as it took to make, so that it takes a small part of the time
// however often it is asked for: latelyAge times, or more where that is set. While nothing changes it may be latelyRest old: what runs is
// charged on, so the order changes by itself.
type lately[T any] struct {
	mu     sync.Mutex
	times  int // 0 is latelyAge
	last   *T
	of     uint64 // version of the state that it is of
	at     time.Time
	took   time.Duration
	making chan struct{} // closed when the next one is ready; nil: none is being made
}

const (
	latelyAge  = 20
	tableAge   = 50 // of what takes seconds and says when it is of
	latelyRest = time.Second
)

// fresh reports whether the last one is good enough for a state of the version.
func (c *lately[T]) fresh(version uint64) bool {
	age := time.Since(c.at)
	return c.last != nil && (version == c.of && age < latelyRest || age < time.Duration(cmp.Or(c.times, latelyAge))*c.took)
}

// peek returns the last one, however old, and whether it is fresh.
func (c *lately[T]) peek(l *Loop) (last *T, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.last, c.fresh(l.version)
}

// ask returns one that is fresh, if there is one or it can be made in time, and else the last
// one, or nil. What was begun goes on, for whoever asks next. begin is called with the loop
// locked, and returns what works it out without the lock.
func (c *lately[T]) ask(ctx context.Context, l *Loop, wait time.Duration, begin func(now time.Time) func() *T) *T {
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

// begun sees to it that one is being made unless the last one is fresh.
func (c *lately[T]) begun(l *Loop, begin func(now time.Time) func() *T) (last *T, ready <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.fresh(l.version):
		return c.last, nil
	case c.making != nil:
		return c.last, c.making
	}
	now, version := time.Now(), l.version
	l.core.Advance(now)
	work, made := begin(now), make(chan struct{})
	c.making = made
	go func() {
		next := work()
		c.mu.Lock()
		c.last, c.of, c.at, c.took, c.making = next, version, now, time.Since(now), nil
		c.mu.Unlock()
		close(made)
	}()
	return c.last, made
}
