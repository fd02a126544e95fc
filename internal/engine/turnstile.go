package engine

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// turnstile is a mutex whose waiters may give up. It is held during calls of the store, which take long while the
// database is away.
type turnstile struct{ passing *semaphore.Weighted }

func newTurnstile() turnstile { return turnstile{semaphore.NewWeighted(1)} }

// Lock waits for as long as it takes.
func (t turnstile) Lock() { t.passing.Acquire(context.Background(), 1) }

// LockBefore waits until the context ends, and then returns its error.
func (t turnstile) LockBefore(ctx context.Context) error { return t.passing.Acquire(ctx, 1) }

// Unlock lets the next waiter pass.
func (t turnstile) Unlock() { t.passing.Release(1) }
