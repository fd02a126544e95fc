package server

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// boostService gives pools more weight for a time.
type boostService struct {
	loop       *engine.Loop
	forecaster *forecast.Forecaster
}

func (s *boostService) routes(a huma.API) {
	handle(a, http.MethodPost, "/v1/boosts", "boost", "Give a pool more weight for a time", 0, body(s.Boost))
	handle(a, http.MethodGet, "/v1/boosts", "boosts", "The current boosts", 0, alone(s.Boosts))
	handle(a, http.MethodDelete, "/v1/boosts/{id}", "unboost", "End a boost early", 0,
		func(ctx context.Context, in *unboostInput) (*api.BoostResponse, error) { return s.Unboost(ctx, in.ID) })
}

type unboostInput struct {
	ID int64 `path:"id"`
}

func (s *boostService) Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error) {
	me, pool := who(ctx), poolOf(ctx, s.loop, r.Pool)
	if err := check(ctx, s.loop, access.Boost, access.Object{Pool: pool}); err != nil {
		return nil, err
	}
	b := engine.Boost{
		Pool: pool, Factor: r.Factor, Until: r.Until, Usage: r.UsageSeconds, By: me.Name, Reason: r.Reason,
	}
	if r.ForSeconds > 0 {
		b.Until = lasting(r.ForSeconds)
	}
	var before views.PoolView
	if path, err := s.loop.Intake.PoolPath(ctx, b.Pool); err == nil && path != "" {
		before = s.pool(ctx, path)
	}
	if r.DryRun {
		return s.boostDry(ctx, b, before)
	}
	b, err := s.loop.Overrides.Boost(ctx, b, me.Via)
	if err != nil {
		return nil, err
	}
	return s.boosted(ctx, b, before), nil
}

// pool returns a pool as it is now, even if idle.
func (s *boostService) pool(ctx context.Context, path string) views.PoolView {
	if p := poolAt(views.Pools(ctx, s.loop), path); p.Path != "" {
		return p
	}
	return views.IdlePool(s.loop, path)
}

// boostDry describes what a boost would change: weights divide a pool in proportion.
func (s *boostService) boostDry(ctx context.Context, b engine.Boost, old views.PoolView) (*api.BoostResponse, error) {
	if old.Path == "" {
		_, err := s.loop.Intake.PoolPath(ctx, b.Pool)
		return nil, cmp.Or(err, queue.Invalidf("pool", "the root has no weight; name one of its pools"))
	}
	if err := sched.CheckFactor(b.Factor); err != nil {
		return nil, queue.Invalidf("factor", "%v", err)
	}
	out := &api.BoostResponse{Version: api.Version, Boost: b, Siblings: map[string]api.Change{}}
	out.Weight = api.Change{Old: old.Weight, New: old.Weight * b.Factor}
	grown := 1 + old.ShareHere*(b.Factor-1) // the new sum of the weights divided by the old sum
	out.Share = api.Change{Old: old.ShareHere, New: old.ShareHere * b.Factor / grown}
	for _, p := range views.Pools(ctx, s.loop) {
		if p.Path != "" && p.Path != old.Path && above(p.Path) == above(old.Path) {
			out.Siblings[p.Path] = api.Change{Old: p.ShareHere, New: p.ShareHere / grown}
		}
	}
	order, err := s.forecaster.Boost(ctx, sched.Boost{Pool: old.Path, Factor: b.Factor, Until: b.Until, Usage: b.Usage})
	if err != nil {
		return nil, err
	}
	if len(order.Jobs)+order.Later+order.Sooner > 0 {
		out.Order = order
	}
	return out, nil
}

// boosted describes what a boost, or its end, changed.
func (s *boostService) boosted(ctx context.Context, b engine.Boost, old views.PoolView) *api.BoostResponse {
	b.Base = 0
	out := &api.BoostResponse{Version: api.Version, Boost: b}
	now := s.pool(ctx, b.Pool)
	out.Weight = api.Change{Old: old.Weight, New: now.Weight}
	out.Share = api.Change{Old: old.ShareHere, New: now.ShareHere}
	return out
}

// poolOf returns the path of the pool that a request names. If no pool matches, it returns the name unchanged.
func poolOf(ctx context.Context, loop *engine.Loop, name string) string {
	if path, err := loop.Intake.PoolPath(ctx, name); err == nil && path != "" {
		return path
	}
	return name
}

func poolAt(all []views.PoolView, path string) views.PoolView {
	for _, p := range all {
		if p.Path == path {
			return p
		}
	}
	return views.PoolView{}
}

func (s *boostService) Boosts(context.Context) (*api.Boosts, error) {
	all := s.loop.Overrides.Boosts()
	return &api.Boosts{Version: api.Version, At: time.Now(), Unit: s.loop.UsageUnit(), Boosts: all}, nil
}

func (s *boostService) Unboost(ctx context.Context, id int64) (*api.BoostResponse, error) {
	me := who(ctx)
	mine := func(b engine.Boost) error {
		return check(ctx, s.loop, access.Boost, access.Object{Pool: b.Pool, By: b.By})
	}
	if len(s.loop.Client().Shares.Load().Access.Operated(&me)) == 0 { // refuse even for an unknown boost
		if err := mine(engine.Boost{}); err != nil {
			return nil, err
		}
	}
	var before views.PoolView
	for _, b := range s.loop.Overrides.Boosts() {
		if b.ID == id && !b.Starter {
			before = s.pool(ctx, b.Pool)
		}
	}
	b, err := s.loop.Overrides.Unboost(ctx, id, me.Name, me.Via, mine)
	if err != nil {
		return nil, err
	}
	return s.boosted(ctx, b, before), nil
}

// lasting returns the time a bounded number of seconds from now.
func lasting(seconds float64) time.Time {
	const longest = 100 * 365 * 24 * 3600
	return time.Now().Add(time.Duration(min(seconds, longest) * float64(time.Second)))
}
