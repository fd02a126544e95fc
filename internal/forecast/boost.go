package forecast

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Boost predicts how a boost would change the order of starts. It begins the boost in a fork of the scheduler. It
// changes nothing.
func (fc *Forecaster) Boost(ctx context.Context, b sched.Boost) (*Reordering, error) {
	rooms := fc.borrow()
	defer rooms.drop()
	now := time.Now()
	fork, err := engine.Read2(fc.loop, func(s *engine.State) (*sched.Scheduler, error) {
		s.Core.Advance(now)
		return s.Core.ForkIn(rooms.room()), nil
	})
	if err != nil {
		return nil, err
	}
	before := orderOf(fork, now)
	fork.Boost(b, now)
	r := compareOrders(before, orderOf(fork, now), firstIn(before, b.Pool))
	if err := fc.nameMoved(ctx, r.Jobs); err != nil {
		return nil, err
	}
	return r, fc.nameMoved(ctx, r.Others)
}

// firstIn returns the job that goes first among the jobs in a pool and the pools below it, or none.
func firstIn(o *explain.Order, pool string) []Moved {
	for _, s := range o.Starts {
		if path := o.Labels[s.Pool].Path; share.Inside(path, pool) {
			return []Moved{{Job: s.Job, Pool: path}}
		}
	}
	return nil
}
