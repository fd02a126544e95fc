package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/history"
)

// historyService returns how pools fared.
type historyService struct {
	loop     *engine.Loop
	recorder *history.Recorder
}

func (s *historyService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/history", "poolHistory", "History of a pool: share, usage, demand, waits", 0, s.poolHistory)
}

type poolHistoryInput struct {
	Pool  string    `query:"pool" maxLength:"600" doc:"Its path; empty or / is the root"`
	Since time.Time `query:"since" doc:"Start; default: a day ago"`
	Until time.Time `query:"until" doc:"End; default: now"`
	Step  float64   `query:"step_seconds" minimum:"0" maximum:"63072000" doc:"Length of the steps; default: as fits a chart. Steps are longer for times whose short steps the server no longer keeps"`
}

func (s *historyService) poolHistory(ctx context.Context, in *poolHistoryInput) (*api.PoolHistory, error) {
	now := time.Now()
	if in.Until.IsZero() {
		in.Until = now
	}
	if in.Since.IsZero() {
		in.Since = in.Until.Add(-24 * time.Hour)
	}
	pool := strings.Trim(in.Pool, "/")
	if path, err := s.loop.Intake.PoolPath(ctx, pool); pool != "" && err == nil {
		pool = path // a pool that left the tree still has a history
	}
	v, err := s.recorder.PoolHistory(ctx, []string{pool}, in.Since, in.Until, time.Duration(in.Step*float64(time.Second)))
	if err != nil {
		return nil, err
	}
	_, _, unit := s.loop.Capacity()
	return &api.PoolHistory{
		Version: api.Version, At: now, Pool: pool, Unit: unit, From: v.From, To: v.To, StepSeconds: v.Step.Seconds(), Points: v.Pools[0],
	}, nil
}

// Histories returns the history of several pools; the interface returns one.
func (s *historyService) Histories(ctx context.Context, pools []string, since time.Time, step time.Duration) ([]*api.PoolHistory, error) {
	now := time.Now()
	v, err := s.recorder.PoolHistory(ctx, pools, since, now, step)
	if err != nil {
		return nil, err
	}
	_, _, unit := s.loop.Capacity()
	var out []*api.PoolHistory
	for i, pool := range pools {
		out = append(out, &api.PoolHistory{Version: api.Version, At: now, Pool: pool, Unit: unit, From: v.From, To: v.To, StepSeconds: v.Step.Seconds(), Points: v.Pools[i]})
	}
	return out, nil
}
