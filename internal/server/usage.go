package server

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) usageRoutes(a huma.API) {
	handle(a, http.MethodPut, "/v1/usage", "setUsage", "Set or forget what a pool has received", 0, s.setUsage)
}

type usageInput struct{ Body api.UsageRequest }

func (s *Server) setUsage(ctx context.Context, in *usageInput) (*body[api.UsageResponse], error) {
	me := who(ctx)
	if err := check(me, doShares, ""); err != nil {
		return nil, err
	}
	before, err := s.options.Loop.SetUsed(ctx, in.Body.Pool, in.Body.UsedSeconds, me.User, me.By)
	if err != nil {
		return nil, err
	}
	out := api.UsageResponse{Version: api.Version, Unit: s.options.Loop.UsageUnit()}
	for _, pool := range slices.Sorted(maps.Keys(before)) {
		out.Pools = append(out.Pools, api.UsageChange{Pool: pool, Old: before[pool], New: in.Body.UsedSeconds})
	}
	return answer(out), nil
}
