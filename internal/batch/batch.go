// Package batch lets calls that come at the same time share one transaction, or whatever else costs about as
// much for many as for one: while a batch is under way, the calls for the next one gather. A call that comes
// alone waits for nobody.
package batch

import (
	"context"
	"sync"
)

// A Batcher gathers calls. Its fields are set before the first call.
type Batcher[In, Out any] struct {
	// Run carries out the calls of a batch, and answers each of them.
	Run func([]*Call[In, Out])
	// MaxWeight bounds that of a batch, Weight is that of a call; nil: each weighs 1.
	MaxWeight int
	Weight    func(In) int
	// AtOnce is how many batches run at the same time; 0 is 1.
	AtOnce int
	// Closed is the answer to calls that come after Close.
	Closed error

	mu      sync.Mutex
	waiting []*Call[In, Out]
	busy    int // batches under way
	closed  bool
	running sync.WaitGroup
}

// A Call is one caller's part of a batch.
type Call[In, Out any] struct {
	In   In
	out  Out
	err  error
	over chan struct{} // closed when it is answered
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

// Wait returns the answer, or the error of ctx when that ends before.
func (c *Call[In, Out]) Wait(ctx context.Context) (out Out, err error) {
	select {
	case <-c.over:
		return c.out, c.err
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

// Do has a call carried out in one of the next batches. When ctx ends before, it may still be.
func (b *Batcher[In, Out]) Do(ctx context.Context, in In) (out Out, err error) {
	c := NewCall[In, Out](in)
	if !b.add(c) {
		return out, b.Closed
	}
	return c.Wait(ctx)
}

// add puts a call into the next batch, which starts if fewer than AtOnce are under way.
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

// run goes on as long as calls wait.
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

// Close refuses waiting and later calls, and waits for the batches under way.
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
