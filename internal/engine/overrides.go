package engine

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Overrides changes the overrides of administrators, see [override].
type Overrides struct {
	*changer
	follower *follower
}

// checkOverride checks the end and the reason of a new override.
func checkOverride(until time.Time, reason string, now time.Time) error {
	if !until.IsZero() && !until.After(now) {
		return queue.Invalidf("until", "%s has already ended", instant.Text(until))
	}
	return queue.CheckText("reason", reason, queue.MaxName)
}

// target finds or creates the pool of a new override. The argument name is a pool, or a user for the user's pool. For
// the root pool it returns an error with the text root.
func target(s *State, name, root string) (core *sched.Scheduler, id sched.PoolID, err error) {
	core, id, err = poolpath.FindOrMake(s.Core, &s.Shares, name)
	if err == nil && id == sched.Root {
		err = queue.Invalidf("pool", "%s", root)
	}
	return core, id, err
}

// endAll removes the overrides of all kinds that have ended by themselves.
func (o *Overrides) endAll(ctx context.Context) {
	for _, k := range o.follower.builder.kinds {
		k.end(ctx, o.changer)
	}
}
