package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead/fairlead"
)

// Calls that submit a few jobs share transactions: while some are under way, the others
// gather for the next one. Who comes alone waits for nobody.
const (
	smallCall   = 100 // jobs; calls with more have a transaction each
	maxTogether = 500 // jobs in one transaction
	atOnce      = 2   // transactions
)

// gathering are the calls that wait for a transaction.
type gathering struct {
	mu    sync.Mutex
	busy  int // transactions under way
	calls []*call
}

// call is one call of Submit.
type call struct {
	jobs  []*fairlead.Job
	out   []fairlead.Submission
	err   error
	ready chan struct{}
}

// Submit implements fairlead.Store. When ctx ends before, the jobs may still be added.
func (s *Store) Submit(ctx context.Context, jobs []*fairlead.Job) ([]fairlead.Submission, error) {
	if len(jobs) > smallCall {
		return s.submit(ctx, jobs, false)
	}
	g := &s.together
	g.mu.Lock()
	if g.busy < atOnce {
		g.busy++
		g.mu.Unlock()
		defer s.nextTogether()
		return s.submit(ctx, jobs, false)
	}
	c := &call{jobs: jobs, ready: make(chan struct{})}
	g.calls = append(g.calls, c)
	g.mu.Unlock()
	select {
	case <-c.ready:
		return c.out, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// nextTogether follows the end of a transaction: it lets those go that have gathered.
func (s *Store) nextTogether() {
	g := &s.together
	g.mu.Lock()
	defer g.mu.Unlock()
	calls := g.take()
	if len(calls) == 0 {
		g.busy--
		return
	}
	began := s.spawn(func(ctx context.Context) {
		s.submitTogether(ctx, calls)
		s.nextTogether()
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
func (g *gathering) take() (calls []*call) {
	n, jobs := 0, 0
	for n < len(g.calls) && jobs+len(g.calls[n].jobs) <= maxTogether {
		jobs += len(g.calls[n].jobs)
		n++
	}
	calls, g.calls = g.calls[:n:n], g.calls[n:]
	return calls
}

// submitTogether adds the jobs of several calls. If one of them is the reason why that fails,
// each gets a transaction of its own.
func (s *Store) submitTogether(ctx context.Context, calls []*call) {
	var all []*fairlead.Job
	for _, c := range calls {
		all = append(all, c.jobs...)
	}
	out, err := s.submit(ctx, all, len(calls) > 1)
	var refused *pgconn.PgError
	if len(calls) > 1 && errors.As(err, &refused) && !passing(err) {
		var apart sync.WaitGroup
		defer apart.Wait()
		for _, c := range calls {
			apart.Go(func() { s.submitTogether(ctx, []*call{c}) })
		}
		return
	}
	for _, c := range calls {
		if c.err = err; err == nil {
			c.out, out = out[:len(c.jobs):len(c.jobs)], out[len(c.jobs):]
		}
		close(c.ready)
	}
}
