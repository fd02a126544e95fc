package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
)

// pauseService pauses and resumes pools.
type pauseService struct{ loop *engine.Loop }

func (s *pauseService) routes(a huma.API) {
	handle(a, http.MethodPost, "/v1/pauses", "pause", "Pause a pool: its waiting tasks do not start", 0, body(s.Pause))
	handle(a, http.MethodGet, "/v1/pauses", "pauses", "The current pauses", 0, alone(s.Pauses))
	handle(a, http.MethodDelete, "/v1/pauses", "resume", "Resume a paused pool", 0,
		func(ctx context.Context, in *resumeInput) (*api.PauseResponse, error) { return s.Resume(ctx, in.Pool) })
}

type resumeInput struct {
	Pool string `query:"pool" required:"true" doc:"Path of a pool, or a user for the user's pool"`
}

func (s *pauseService) Pause(ctx context.Context, r api.PauseRequest) (*api.PauseResponse, error) {
	me, pool := who(ctx), poolOf(ctx, s.loop, r.Pool)
	if err := check(ctx, s.loop, access.Pause, access.Object{Pool: pool}); err != nil {
		return nil, err
	}
	p := engine.Pause{Pool: pool, Until: r.Until, By: me.Name, Reason: r.Reason}
	if r.ForSeconds > 0 {
		p.Until = lasting(r.ForSeconds)
	}
	earlier := s.loop.Overrides.Pauses()
	p, err := s.loop.Overrides.Pause(ctx, p, me.Via, s.mine(ctx))
	if err != nil {
		return nil, err
	}
	out := paused(p, views.Pools(ctx, s.loop))
	if i := slices.IndexFunc(earlier, func(old engine.Pause) bool { return old.Pool == p.Pool }); i >= 0 {
		out.Before = &earlier[i]
	}
	return out, nil
}

// mine returns a function that checks whether the actor may change a current pause: operators may change their own.
func (s *pauseService) mine(ctx context.Context) func(engine.Pause) error {
	return func(p engine.Pause) error {
		return check(ctx, s.loop, access.Pause, access.Object{Pool: p.Pool, By: p.By})
	}
}

// paused describes a pause, or its end, with the pools as they are or were.
func paused(p engine.Pause, pools []views.PoolView) *api.PauseResponse {
	now := poolAt(pools, p.Pool)
	return &api.PauseResponse{Version: api.Version, Pause: p, Tasks: now.Tasks, Waiting: now.Waiting, Queued: now.Queued}
}

func (s *pauseService) Pauses(context.Context) (*api.Pauses, error) {
	return &api.Pauses{Version: api.Version, At: time.Now(), Pauses: s.loop.Overrides.Pauses()}, nil
}

func (s *pauseService) Resume(ctx context.Context, pool string) (*api.PauseResponse, error) {
	me, pool := who(ctx), poolOf(ctx, s.loop, pool)
	if err := check(ctx, s.loop, access.Pause, access.Object{Pool: pool}); err != nil {
		return nil, err
	}
	before := views.Pools(ctx, s.loop) // after the resume, the waiting tasks may have begun
	p, err := s.loop.Overrides.Resume(ctx, pool, me.Name, me.Via, s.mine(ctx))
	if err != nil {
		return nil, err
	}
	return paused(p, before), nil
}
