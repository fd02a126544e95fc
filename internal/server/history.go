package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) historyRoutes(a huma.API) {
	handle(a, http.MethodGet, "/v1/history", "poolHistory", "How a pool fared: share, use, demand, waits, in steps of time", 0, s.poolHistory)
}

type poolHistoryInput struct {
	Pool  string    `query:"pool" maxLength:"600" doc:"Its path; empty or / is the root"`
	Since time.Time `query:"since" doc:"From when on; default: a day ago"`
	Until time.Time `query:"until" doc:"Until when; default: now"`
	Step  float64   `query:"step_seconds" minimum:"0" maximum:"63072000" doc:"How long the steps are to be; default: as fits a picture. They are longer where nothing so fine is kept"`
}

func (s *Server) poolHistory(ctx context.Context, in *poolHistoryInput) (*body[api.PoolHistory], error) {
	now := time.Now()
	if in.Until.IsZero() {
		in.Until = now
	}
	if in.Since.IsZero() {
		in.Since = in.Until.Add(-24 * time.Hour)
	}
	pool := strings.Trim(in.Pool, "/")
	v, err := s.options.Loop.PoolHistory(ctx, []string{pool}, in.Since, in.Until, time.Duration(in.Step*float64(time.Second)))
	if err != nil {
		return nil, err
	}
	_, _, unit := s.options.Loop.Capacity()
	return answer(api.PoolHistory{
		Version: api.Version, At: now, Pool: pool, Unit: unit, From: v.From, To: v.To, StepSeconds: v.Step.Seconds(), Points: v.Pools[0],
	}), nil
}
