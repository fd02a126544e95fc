package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) pauseRoutes(a huma.API) {
	handle(a, http.MethodPost, "/v1/pauses", "pause", "Keep what waits in a pool from starting", 0, s.pause)
	handle(a, http.MethodGet, "/v1/pauses", "pauses", "The pauses in force", 0, s.pauses)
	handle(a, http.MethodDelete, "/v1/pauses", "resume", "Let a paused pool start what waits in it", 0, s.resume)
}

type pauseInput struct{ Body api.PauseRequest }

func (s *Server) pause(ctx context.Context, in *pauseInput) (*body[api.PauseResponse], error) {
	me := who(ctx)
	if err := check(me, doShares, ""); err != nil {
		return nil, err
	}
	p := fairlead.Pause{Pool: in.Body.Pool, Until: in.Body.Until, By: me.User, Reason: in.Body.Reason}
	if in.Body.ForSeconds > 0 {
		p.Until = lasting(in.Body.ForSeconds)
	}
	p, err := s.options.Loop.Pause(ctx, p, me.By)
	if err != nil {
		return nil, err
	}
	return answer(s.paused(ctx, p)), nil
}

// lasting is when something ends that lasts for so long from now on.
func lasting(seconds float64) time.Time {
	const longest = 100 * 365 * 24 * 3600
	return time.Now().Add(time.Duration(min(seconds, longest) * float64(time.Second)))
}

// paused says what a pause, or its end, is about.
func (s *Server) paused(ctx context.Context, p fairlead.Pause) api.PauseResponse {
	now := poolAt(s.options.Loop.Pools(ctx), p.Pool)
	return api.PauseResponse{Version: api.Version, Pause: p, Tasks: now.Tasks, Waiting: now.Waiting, Queued: now.Queued}
}

func (s *Server) pauses(context.Context, *struct{}) (*body[api.Pauses], error) {
	return answer(api.Pauses{Version: api.Version, At: time.Now(), Pauses: s.options.Loop.Pauses()}), nil
}

type resumeInput struct {
	Pool string `query:"pool" required:"true" doc:"Path of a pool, or a user for the user's pool"`
}

func (s *Server) resume(ctx context.Context, in *resumeInput) (*body[api.PauseResponse], error) {
	me := who(ctx)
	if err := check(me, doShares, ""); err != nil {
		return nil, err
	}
	p, err := s.options.Loop.Resume(ctx, in.Pool, me.User, me.By)
	if err != nil {
		return nil, err
	}
	return answer(s.paused(ctx, p)), nil
}
