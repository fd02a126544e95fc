// Package batch lets simultaneous calls share one transaction, or another operation that costs about as much
// for many calls as for one. While a batch runs, the calls for the next batch gather. A single call does not
// wait for others.
package batch

import (
	"context"
	"sync"
)

// A Batcher gathers calls. Set its fields before the first call.
type Batcher[In, Out any] struct {
	// Run executes the calls of a batch, and answers each of them.
	Run func([]*Call[In, Out])
	// MaxWeight limits the weight of a batch, and Weight returns the weight of a call. If Weight is nil,
	// each call weighs 1.
	MaxWeight int
	Weight    func(In) int
	// AtOnce is the number of batches that run at the same time; 0 means 1.
	AtOnce int
	// Closed is the error for calls after Close.
	Closed error

	mu      sync.Mutex
	waiting []*Call[In, Out]
	busy    int // running batches
	closed  bool
	running sync.WaitGroup
}

// A Call is one caller's part of a batch.
type Call[In, Out any] struct {
	In   In
	out  Out
	err  error
	over chan struct{} // closed by the answer
}

// NewCall returns a call that has no answer yet.
func NewCall[In, Out any](in In) *Call[In, Out] {
	return &Call[In, Out]{In: in, over: make(chan struct{})}
}

// Answer ends the call.
func (c *Call[In, Out]) Answer(out Out, err error) {
	c.out, c.err = out, err
	close(c.over)
}

// Wait returns the answer, or the error of ctx if ctx ends first.
func (c *Call[In, Out]) Wait(ctx context.Context) (out Out, err error) {
	select {
	case <-c.over:
		return c.out, c.err
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

// Do adds a call to a batch and waits for its answer. If ctx ends first, the call may still be executed.
func (b *Batcher[In, Out]) Do(ctx context.Context, in In) (out Out, err error) {
	c := NewCall[In, Out](in)
	if !b.add(c) {
		return out, b.Closed
	}
	return c.Wait(ctx)
}

// add puts a call into the next batch, which starts if fewer than AtOnce batches run.
func (b *Batcher[In, Out]) add(c *Call[In, Out]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.waiting = append(b.waiting, c)
	if b.busy < max(1, b.AtOnce) {
		b.busy++
		b.running.Go(b.run)
	}
	return true
}

// run executes batches while calls wait.
func (b *Batcher[In, Out]) run() {
	for calls := b.take(); len(calls) > 0; calls = b.take() {
		b.Run(calls)
	}
}

// take returns the first calls that fit into one batch.
func (b *Batcher[In, Out]) take() []*Call[In, Out] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, weight := 0, 0
	for n < len(b.waiting) {
		if weight += b.weigh(b.waiting[n]); n > 0 && weight > b.MaxWeight {
			break
		}
		n++
	}
	if n == 0 {
		b.busy--
	}
	calls := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	return calls
}

func (b *Batcher[In, Out]) weigh(c *Call[In, Out]) int {
	if b.Weight == nil {
		return 1
	}
	return b.Weight(c.In)
}

// Close refuses waiting and later calls, and waits for the running batches.
func (b *Batcher[In, Out]) Close() {
	b.mu.Lock()
	refused := b.waiting
	b.waiting, b.closed = nil, true
	b.mu.Unlock()
	for _, c := range refused {
		var none Out
		c.Answer(none, b.Closed)
	}
	b.running.Wait()
}
