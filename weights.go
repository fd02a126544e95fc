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

// SetWeight gives a pool another weight among its siblings from now on, such as what a customer pays for:
//
//	err := app.SetWeight(ctx, "acme", 3)
//
// Without [Options.Shares] the pool of a user has the user's name, and weight 1. A pool may be named by its path, the
// end of its path, or its user, also before its first job. The weight holds in this process until it ends; each process
// that decides for the same store has to set it. [Loop.Configure] puts other shares in its place. The name of a user
// that has a slash is written in quotes, as it would be the path of a pool below another one: app.SetWeight(ctx,
// `"org/repo"`, 3).
func (a *App) SetWeight(ctx context.Context, pool string, weight float64) error {
	if !(weight > 0) || math.IsInf(weight, 1) {
		return queue.Invalidf("weight", "must be more than 0, got %v", weight)
	}
	return a.setPool(ctx, pool, func(p *share.Pool) { p.Weight = weight })
}

// SetMax bounds what the tasks of a pool hold at once, per resource, from now on; nil is no bound. What runs already
// runs on. See [App.SetWeight] for which pool is whose, and for how long it holds.
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

// setPool puts shares in force in which one pool is changed.
func (a *App) setPool(ctx context.Context, name string, change func(*share.Pool)) error {
	if strings.Trim(name, "/") == "" {
		return queue.Invalidf("pool", "the root has no weight and no bound of its own; name one of its pools")
	}
	a.setting.Lock()
	defer a.setting.Unlock()
	shares := *a.loop.Client().Shares.Load()
	path, err := a.loop.Intake.PoolPath(ctx, name)
	if reading := share.Reading(name); errors.Is(err, ErrNotFound) && !shares.Closed && reading != "" {
		path, err = reading, nil // its first job will make it
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

// child is a pool of a pool, which may be changed: others that know the tree do not see it.
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
