package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) boostRoutes(a huma.API) {
	handle(a, http.MethodPost, "/v1/boosts", "boost", "Give a pool more weight for a time", 0, s.boost)
	handle(a, http.MethodGet, "/v1/boosts", "boosts", "The boosts in force", 0, s.boosts)
	handle(a, http.MethodDelete, "/v1/boosts/{id}", "unboost", "End a boost before its time", 0, s.unboost)
}

type boostInput struct{ Body api.BoostRequest }

func (s *Server) boost(ctx context.Context, in *boostInput) (*body[api.BoostResponse], error) {
	me := who(ctx)
	if err := check(me, doShares, ""); err != nil {
		return nil, err
	}
	b := fairlead.Boost{
		Pool: in.Body.Pool, Factor: in.Body.Factor, Until: in.Body.Until, Usage: in.Body.UsageSeconds, By: me.User, Reason: in.Body.Reason,
	}
	if in.Body.ForSeconds > 0 {
		b.Until = lasting(in.Body.ForSeconds)
	}
	before := s.options.Loop.Pools(ctx)
	b, err := s.options.Loop.Boost(ctx, b, me.By)
	if err != nil {
		return nil, err
	}
	return answer(s.boosted(ctx, b, before)), nil
}

// boosted says what a boost, or its end, changed.
func (s *Server) boosted(ctx context.Context, b fairlead.Boost, before []fairlead.PoolView) api.BoostResponse {
	b.Base = 0
	out := api.BoostResponse{Version: api.Version, Boost: b}
	old, now := poolAt(before, b.Pool), poolAt(s.options.Loop.Pools(ctx), b.Pool)
	if old.Path == "" { // idle pools that nobody configured are not listed
		old.Weight = now.BaseWeight
	}
	if now.Path == "" {
		now.Weight = old.BaseWeight
	}
	out.Weight = api.Change{Old: old.Weight, New: now.Weight}
	out.Share = api.Change{Old: old.ShareHere, New: now.ShareHere}
	return out
}

func poolAt(all []fairlead.PoolView, path string) fairlead.PoolView {
	for _, p := range all {
		if p.Path == path {
			return p
		}
	}
	return fairlead.PoolView{}
}

func (s *Server) boosts(context.Context, *struct{}) (*body[api.Boosts], error) {
	return answer(api.Boosts{Version: api.Version, At: time.Now(), Unit: s.options.Loop.UsageUnit(), Boosts: s.options.Loop.Boosts()}), nil
}

type unboostInput struct {
	ID int64 `path:"id"`
}

func (s *Server) unboost(ctx context.Context, in *unboostInput) (*body[api.BoostResponse], error) {
	me := who(ctx)
	if err := check(me, doShares, ""); err != nil {
		return nil, err
	}
	before := s.options.Loop.Pools(ctx)
	b, err := s.options.Loop.Unboost(ctx, in.ID, me.User, me.By)
	if err != nil {
		return nil, err
	}
	return answer(s.boosted(ctx, b, before)), nil
}
