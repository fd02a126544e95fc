package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead/fairlead/internal/batch"
	"github.com/fairlead/fairlead/queue"
)

// Calls that submit or finish a few jobs share transactions: while some are under way, the
// others gather for the next one. Who comes alone waits for nobody.
const (
	smallCall   = 50  // items; calls with more have a transaction each
	maxTogether = 500 // items in one transaction
	atOnce      = 2   // transactions
)

// sharing carries out calls with some items; each item has an answer.
type sharing[In, Out any] struct {
	db    *database
	do    carryOut[In, Out]
	calls batch.Batcher[[]In, []Out]
}

// carryOut does what calls want in a transaction. If there are several, it rather returns an
// error than to wait for long.
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

// join carries a call out, at once or together with others. When ctx ends before, it may still be
// carried out.
func (x *sharing[In, Out]) join(ctx context.Context, items []In) ([]Out, error) {
	if len(items) > smallCall {
		return x.do(ctx, items, false)
	}
	if err := x.db.alive(ctx); err != nil {
		return nil, err
	}
	return x.calls.Do(ctx, items)
}

// together carries several calls out. If one of them is the reason why that fails, each gets a
// transaction of its own. No caller's context ends them, and Close waits a while for the
// transactions under way.
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
