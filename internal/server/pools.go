package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/share"
)

// poolService returns the tree of pools, and corrects their usage.
type poolService struct {
	loop      *engine.Loop
	explainer *explain.Explainer
	config    Configuration
}

func (s *poolService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/shares", "shares", "The tree of pools: shares, use, demand", 0,
		func(ctx context.Context, in *sharesInput) (*api.Shares, error) { return s.shares(ctx, in) })
	handle(a, http.MethodPut, "/v1/usage", "setUsage", "Set or reset the usage of a pool", 0, body(s.setUsage))
}

type sharesInput struct {
	Pool  string `query:"pool" doc:"This pool and those below it: its path, or a user for the user's pool"`
	Waits bool   `query:"waits" doc:"Add the reasons for which the pools waited in the last hour"`
}

// shares returns the tree of pools, with the reasons of their waits if the request asks for these.
func (s *poolService) shares(ctx context.Context, in *sharesInput) (*api.Shares, error) {
	out, err := s.Shares(ctx, in.Pool)
	if err != nil || !in.Waits {
		return out, err
	}
	pool := ""
	if in.Pool != "" {
		pool = out.Pools[0].Path
	}
	since, all := s.Reasons(ctx, pool)
	out.WaitsSince, out.Waits = &since, all
	return out, nil
}

// Reasons returns how long a pool and the pools below it waited for which reasons; "" is the whole cluster.
func (s *poolService) Reasons(_ context.Context, pool string) (since time.Time, all []explain.WaitReason) {
	since, all = s.explainer.WaitReasons(time.Now())
	return since, slices.DeleteFunc(all, func(w explain.WaitReason) bool {
		return pool != "" && !share.Inside(w.Pool, pool)
	})
}

func (s *poolService) Shares(ctx context.Context, pool string) (*api.Shares, error) {
	out := api.Shares{Version: api.Version, At: time.Now(), Summary: summaryOf(s.loop), Config: s.config.Status().Hash, Pools: []views.PoolView{}}
	out.Unit, out.UsageUnit = out.Summary.Unit, s.loop.UsageUnit()
	out.HalfLifeSeconds = s.loop.HalfLife().Seconds()
	fair, pools := views.Fairness(ctx, s.loop)
	out.Fairness = fair
	if pool != "" {
		var err error
		if pool, err = s.loop.Intake.PoolPath(ctx, pool); err != nil {
			return nil, err
		}
	}
	for _, p := range pools {
		if pool == "" || share.Inside(p.Path, pool) {
			out.Pools = append(out.Pools, p)
		}
	}
	if len(out.Pools) == 0 {
		out.Pools = append(out.Pools, views.IdlePool(s.loop, pool))
	}
	return &out, nil
}

func (s *poolService) setUsage(ctx context.Context, r api.UsageRequest) (*api.UsageResponse, error) {
	me := who(ctx)
	if err := check(ctx, s.loop, access.Usage, access.Object{Pool: poolOf(ctx, s.loop, r.Pool)}); err != nil {
		return nil, err
	}
	before, err := s.loop.Books.SetUsed(ctx, r.Pool, r.UsedSeconds, me.Name, me.Via)
	if err != nil {
		return nil, err
	}
	out := api.UsageResponse{Version: api.Version, Unit: s.loop.UsageUnit()}
	for _, pool := range slices.Sorted(maps.Keys(before)) {
		out.Pools = append(out.Pools, api.UsageChange{Pool: pool, Old: before[pool], New: r.UsedSeconds})
	}
	return &out, nil
}
