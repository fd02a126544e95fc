package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
)

// reservationService reserves nodes for a time.
type reservationService struct {
	loop       *engine.Loop
	forecaster *forecast.Forecaster
}

func (s *reservationService) routes(a huma.API) {
	handle(a, http.MethodPut, "/v1/reservations/{name}", "reserve", "Reserve nodes for a time, or change a reservation", 0,
		func(ctx context.Context, in *reserveInput) (*api.ReserveResponse, error) {
			return s.Reserve(ctx, in.Name, in.Body)
		})
	handle(a, http.MethodGet, "/v1/reservations", "reservations", "The reservations that have not ended", 0, alone(s.Reservations))
	handle(a, http.MethodDelete, "/v1/reservations/{name}", "unreserve", "End a reservation early", 0,
		func(ctx context.Context, in *unreserveInput) (*api.ReserveResponse, error) {
			return s.Unreserve(ctx, in.Name)
		})
}

type reserveInput struct {
	Name string `path:"name" maxLength:"64"`
	Body api.ReserveRequest
}

type unreserveInput struct {
	Name string `path:"name" maxLength:"64"`
}

func (s *reservationService) Reserve(ctx context.Context, name string, q api.ReserveRequest) (*api.ReserveResponse, error) {
	me := who(ctx)
	if err := check(ctx, s.loop, access.Nodes, access.Object{}); err != nil {
		return nil, err
	}
	r := engine.Reservation{
		Name: name, Nodes: q.Nodes, From: q.From, Maintenance: q.Maintenance, Pools: q.Pools,
		Users: q.Users, By: me.Name, Reason: q.Reason,
	}
	for i, pool := range r.Pools {
		r.Pools[i] = s.loop.Intake.PoolFor(ctx, pool)
	}
	const longest = 10 * 365 * 24 * 3600
	o := engine.ReserveOptions{
		Count: q.Count, Request: q.Request, Constraint: q.Constraint, Force: q.Force, DryRun: q.DryRun, From: me.Via,
		Lasts: time.Duration(min(q.Seconds, longest) * float64(time.Second)),
	}
	r, over, err := s.loop.Overrides.Reserve(ctx, r, o)
	if err != nil {
		return nil, err
	}
	out := &api.ReserveResponse{Version: api.Version, Reservation: r, Overruns: over}
	if q.DryRun {
		out.Delays, err = s.forecaster.Reserved(ctx, r)
	}
	return out, err
}

func (s *reservationService) Reservations(context.Context) (*api.Reservations, error) {
	return &api.Reservations{Version: api.Version, At: time.Now(), Reservations: s.loop.Overrides.Reservations()}, nil
}

func (s *reservationService) Unreserve(ctx context.Context, name string) (*api.ReserveResponse, error) {
	me := who(ctx)
	if err := check(ctx, s.loop, access.Nodes, access.Object{}); err != nil {
		return nil, err
	}
	r, err := s.loop.Overrides.Unreserve(ctx, name, me.Name, me.Via)
	if err != nil {
		return nil, err
	}
	return &api.ReserveResponse{Version: api.Version, Reservation: r}, nil
}
