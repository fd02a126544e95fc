package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead/fairlead/internal/batch"
	"github.com/fairlead/fairlead/queue"
)

// Calls that submit or finish a few jobs share transactions. While the allowed number of transactions is in progress,
// other calls collect for the next one. A single call does not wait.
const (
	smallCall   = 50  // items; calls with more have a transaction each
	maxTogether = 500 // items in one transaction
	atOnce      = 2   // transactions
)

// sharing executes calls with some items; each item has an answer.
type sharing[In, Out any] struct {
	db    *database
	do    carryOut[In, Out]
	calls batch.Batcher[[]In, []Out]
}

// carryOut executes calls in a transaction. If there are several, it returns an error rather than wait for long.
type carryOut[In, Out any] func(ctx context.Context, items []In, several bool) ([]Out, error)

func newSharing[In, Out any](db *database, do carryOut[In, Out]) *sharing[In, Out] {
	x := &sharing[In, Out]{db: db, do: do}
	x.calls = batch.Batcher[[]In, []Out]{
		Run:       x.together,
		AtOnce:    atOnce,
		MaxWeight: maxTogether,
		Weight:    func(items []In) int { return len(items) },
		Closed:    queue.ErrClosed,
	}
	return x
}

// join executes a call, at once or together with others. If ctx ends first, it may still be executed.
func (x *sharing[In, Out]) join(ctx context.Context, items []In) ([]Out, error) {
	if len(items) > smallCall {
		return x.do(ctx, items, false)
	}
	if err := x.db.alive(ctx); err != nil {
		return nil, err
	}
	return x.calls.Do(ctx, items)
}

// together executes several calls. If one of them makes the common transaction fail, each gets its own transaction.
// No caller's context ends the transactions, and Close waits a while for those in progress.
func (x *sharing[In, Out]) together(calls []*batch.Call[[]In, []Out]) {
	var all []In
	for _, c := range calls {
		all = append(all, c.In...)
	}
	ctx, end := x.db.outlive()
	defer end()
	out, err := x.do(ctx, all, len(calls) > 1)
	var refused *pgconn.PgError
	if lost := (unknown{}); len(calls) > 1 && errors.As(err, &refused) && !transient(err) && !errors.As(err, &lost) {
		var apart sync.WaitGroup
		defer apart.Wait()
		for i := range calls {
			apart.Go(func() { x.together(calls[i : i+1]) })
		}
		return
	}
	for _, c := range calls {
		if err != nil {
			c.Answer(nil, err)
			continue
		}
		n := len(c.In)
		c.Answer(out[:n:n], nil)
		out = out[n:]
	}
}
