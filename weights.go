package fairlead

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// SetWeight changes the weight of a pool among its siblings from now on, for example to the share that a customer
// pays for:
//
//	err := app.SetWeight(ctx, "acme", 3)
//
// Without [Options.Shares] the pool of a user has the user's name, and weight 1. A pool may be named by its path, the
// end of its path, or its user, even before its first job. A user name that contains a slash must be quoted, because
// it would otherwise be understood as the path of a pool: app.SetWeight(ctx, `"org/repo"`, 3). If placement rules put
// users into other pools, name a pool by its path until it has had a job. The weight lasts until this process ends,
// or [Loop.Configure] applies other shares. Each process that decides for the same store must set it.
func (a *App) SetWeight(ctx context.Context, pool string, weight float64) error {
	if !(weight > 0) || math.IsInf(weight, 1) {
		return queue.Invalidf("weight", "must be more than 0, got %v", weight)
	}
	return a.setPool(ctx, pool, func(p *share.Pool) { p.Weight = weight })
}

// SetMax bounds the amounts that the tasks of a pool hold at the same time, per resource, from now on; nil is no
// bound. Running tasks continue. See [App.SetWeight] for how to name a pool, and how long the bound lasts.
func (a *App) SetMax(ctx context.Context, pool string, most Amounts) error {
	for name, n := range most {
		if err := share.CheckResource(name); err != nil {
			return queue.Invalidf("max", "%v", err)
		}
		if n < 0 || n > queue.MaxAmount {
			return queue.Invalidf("max", "%s must be from 0 to %d, got %d", name, int64(queue.MaxAmount), n)
		}
	}
	return a.setPool(ctx, pool, func(p *share.Pool) { p.Max = maps.Clone(most) })
}

// setPool applies the current shares with one pool changed.
func (a *App) setPool(ctx context.Context, name string, change func(*share.Pool)) error {
	if strings.Trim(name, "/") == "" {
		return queue.Invalidf("pool", "the root has no weight and no bound of its own; name one of its pools")
	}
	a.setting.Lock()
	defer a.setting.Unlock()
	shares := *a.loop.Client().Shares.Load()
	path, err := a.loop.Intake.PoolPath(ctx, name)
	if reading := share.Reading(name); errors.Is(err, ErrNotFound) && !shares.Closed && reading != "" {
		path, err = reading, nil // the first job of the pool will create it
	}
	if err != nil {
		return err
	}
	p := &shares.Sched.Root
	for _, segment := range strings.Split(path, "/") {
		p = child(p, segment)
	}
	change(p)
	return a.loop.Configure(ctx, shares)
}

// child returns a pool of p that may be changed: it copies the slice, so other readers of the tree see no change.
func child(p *share.Pool, name string) *share.Pool {
	p.Pools = slices.Clone(p.Pools)
	for i := range p.Pools {
		if p.Pools[i].Name == name {
			return &p.Pools[i]
		}
	}
	p.Pools = append(p.Pools, share.Pool{Name: name, Weight: 1})
	return &p.Pools[len(p.Pools)-1]
}
