package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) reserveRoutes(a huma.API) {
	handle(a, http.MethodPut, "/v1/reservations/{name}", "reserve", "Keep nodes for a time, or change that", 0, s.reserve)
	handle(a, http.MethodGet, "/v1/reservations", "reservations", "The reservations that are not over", 0, s.reservations)
	handle(a, http.MethodDelete, "/v1/reservations/{name}", "unreserve", "End a reservation before its time", 0, s.unreserve)
}

type reserveInput struct {
	Name string `path:"name" maxLength:"64"`
	Body api.ReserveRequest
}

func (s *Server) reserve(ctx context.Context, in *reserveInput) (*body[api.ReserveResponse], error) {
	me := who(ctx)
	if err := check(me, doNodes, ""); err != nil {
		return nil, err
	}
	q := &in.Body
	r := fairlead.Reservation{
		Name: in.Name, Nodes: q.Nodes, From: q.From, Maintenance: q.Maintenance, Pools: q.Pools, Users: q.Users, By: me.User, Reason: q.Reason,
	}
	const longest = 10 * 365 * 24 * 3600
	o := fairlead.ReserveOptions{
		Count: q.Count, Request: q.Request, Constraint: q.Constraint, Force: q.Force, DryRun: q.DryRun, From: me.By,
		Lasts: time.Duration(min(q.Seconds, longest) * float64(time.Second)),
	}
	r, over, err := s.options.Loop.Reserve(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return answer(api.ReserveResponse{Version: api.Version, Reservation: r, Overruns: over}), nil
}

func (s *Server) reservations(context.Context, *struct{}) (*body[api.Reservations], error) {
	return answer(api.Reservations{Version: api.Version, At: time.Now(), Reservations: s.options.Loop.Reservations()}), nil
}

type unreserveInput struct {
	Name string `path:"name" maxLength:"64"`
}

func (s *Server) unreserve(ctx context.Context, in *unreserveInput) (*body[api.ReserveResponse], error) {
	me := who(ctx)
	if err := check(me, doNodes, ""); err != nil {
		return nil, err
	}
	r, err := s.options.Loop.Unreserve(ctx, in.Name, me.User, me.By)
	if err != nil {
		return nil, err
	}
	return answer(api.ReserveResponse{Version: api.Version, Reservation: r}), nil
}
