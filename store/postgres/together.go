package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead/fairlead"
)

// Calls that submit or finish a few jobs share transactions: while some are under way, the
// others gather for the next one. Who comes alone waits for nobody.
const (
	smallCall   = 50  // items; calls with more have a transaction each
	maxTogether = 500 // items in one transaction
	atOnce      = 2   // transactions
)

// gathering are the calls that wait for a transaction.
type gathering[In, Out any] struct {
	mu    sync.Mutex
	busy  int // transactions under way
	calls []*call[In, Out]
}

// call is a call with some items, each of which has an answer.
type call[In, Out any] struct {
	items []In
	out   []Out
	err   error
	ready chan struct{}
}

// carryOut does what calls want in a transaction. If there are several, it rather returns an
// error than to wait for long.
type carryOut[In, Out any] func(ctx context.Context, items []In, several bool) ([]Out, error)

// Submit implements fairlead.Store. When ctx ends before, the jobs may still be added.
func (s *Store) Submit(ctx context.Context, jobs []*fairlead.Job) ([]fairlead.Submission, error) {
	return s.submissions.join(ctx, s, jobs, s.submit)
}

// Finish implements fairlead.Store. When ctx ends before, the attempts may still be ended.
func (s *Store) Finish(ctx context.Context, results []fairlead.Result) ([]fairlead.Verdict, error) {
	return s.finishes.join(ctx, s, results, s.finish)
}

// join carries a call out, at once or together with others.
func (g *gathering[In, Out]) join(ctx context.Context, s *Store, items []In, do carryOut[In, Out]) ([]Out, error) {
	if len(items) > smallCall {
		return do(ctx, items, false)
	}
	g.mu.Lock()
	if g.busy < atOnce {
		g.busy++
		g.mu.Unlock()
		defer g.next(s, do)
		return do(ctx, items, false)
	}
	c := &call[In, Out]{items: items, ready: make(chan struct{})}
	g.calls = append(g.calls, c)
	g.mu.Unlock()
	select {
	case <-c.ready:
		return c.out, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// next follows the end of a transaction: it lets those go that have gathered.
func (g *gathering[In, Out]) next(s *Store, do carryOut[In, Out]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	calls := g.take()
	if len(calls) == 0 {
		g.busy--
		return
	}
	began := s.spawn(func(ctx context.Context) {
		together(ctx, calls, do)
		g.next(s, do)
	})
	if !began {
		g.busy--
		for _, c := range append(calls, g.calls...) {
			c.err = fairlead.ErrClosed
			close(c.ready)
		}
		g.calls = nil
	}
}

// take returns the first calls that fit into one transaction.
func (g *gathering[In, Out]) take() (calls []*call[In, Out]) {
	n, items := 0, 0
	for n < len(g.calls) && items+len(g.calls[n].items) <= maxTogether {
		items += len(g.calls[n].items)
		n++
	}
	calls, g.calls = g.calls[:n:n], g.calls[n:]
	return calls
}

// together carries several calls out. If one of them is the reason why that fails, each gets a
// transaction of its own.
func together[In, Out any](ctx context.Context, calls []*call[In, Out], do carryOut[In, Out]) {
	var all []In
	for _, c := range calls {
		all = append(all, c.items...)
	}
	out, err := do(ctx, all, len(calls) > 1)
	var refused *pgconn.PgError
	if len(calls) > 1 && errors.As(err, &refused) && !passing(err) {
		var apart sync.WaitGroup
		defer apart.Wait()
		for _, c := range calls {
			apart.Go(func() { together(ctx, []*call[In, Out]{c}, do) })
		}
		return
	}
	for _, c := range calls {
		if c.err = err; err == nil {
			c.out, out = out[:len(c.items):len(c.items)], out[len(c.items):]
		}
		close(c.ready)
	}
}
