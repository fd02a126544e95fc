package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/why"
)

func (s *Server) whyRoutes(a huma.API) {
	handle(a, http.MethodGet, "/v1/jobs/{id}/why", "why-job", "Why a job is where it is", 0, s.why)
	handle(a, http.MethodPost, "/v1/jobs/{id}/what-if", "what-if", "What would become of a job that waits if it asked for something else", 0, s.whatIf)
	handle(a, http.MethodGet, "/v1/jobs/{id}/versus", "why-versus", "Which of two goes first, and by which number", 0, s.versus)
	handle(a, http.MethodGet, "/v1/why/pool", "why-pool", "Why a pool gets what it gets", 0, s.whyPool)
}

type whyInput struct {
	ID       int64 `path:"id"`
	Siblings int   `query:"siblings" minimum:"0" maximum:"100000" default:"10" doc:"How many pools before the job's own to list at each level; 0 is all"`
	Evidence bool  `query:"evidence" doc:"Add what it takes to recompute the answer"`
	Estimate bool  `query:"estimate" doc:"Add when a job that waits will start, and what would make that sooner, which may take 200 ms"`
}

// The answer is written as it is, not through a schema: its numbers can be infinite.
func (s *Server) why(ctx context.Context, in *whyInput) (*body[*why.Answer], error) {
	o := fairlead.WhyOptions{Siblings: in.Siblings, Evidence: in.Evidence, Estimate: in.Estimate}
	if in.Evidence {
		o.Siblings = 0
	}
	a, err := s.explain(ctx, in.ID, o)
	if err != nil {
		return nil, err
	}
	return answer(a), nil
}

// explain is why a job is where it is, with what bridges tell of it.
func (s *Server) explain(ctx context.Context, id int64, o fairlead.WhyOptions) (*why.Answer, error) {
	a, err := s.options.Loop.Why(ctx, id, o)
	if err != nil {
		return nil, err
	}
	if a.Subject.Running > 0 {
		a.Bridged = s.bridged.of(id)
	}
	if len(a.Bridged) > 0 && a.Reason.Code == why.StateQueued {
		a.Reason.Text = a.Bridged[0].Told()
	}
	return a, nil
}

type whatIfInput struct {
	ID   int64 `path:"id"`
	Body api.Variation
}

func (s *Server) whatIf(ctx context.Context, in *whatIfInput) (*body[*why.WhatIf], error) {
	if in.Body.Nice != nil {
		if err := checkNice(who(ctx), *in.Body.Nice); err != nil {
			return nil, err
		}
	}
	w, err := s.options.Loop.WhatIf(ctx, in.ID, in.Body.ToVariation())
	if err != nil {
		return nil, err
	}
	return answer(w), nil
}

type versusInput struct {
	ID    int64  `path:"id"`
	Other string `query:"other" required:"true" doc:"A job, a pool or a user"`
}

func (s *Server) versus(ctx context.Context, in *versusInput) (*body[api.Versus], error) {
	c, units, err := s.options.Loop.Versus(ctx, in.ID, in.Other)
	if err != nil {
		return nil, err
	}
	return answer(api.Versus{Comparison: c, Units: units}), nil
}

type poolInput struct {
	Pool     string `query:"pool" required:"true" doc:"Path of a pool, or a user"`
	Siblings int    `query:"siblings" minimum:"0" maximum:"100000" default:"10"`
}

func (s *Server) whyPool(ctx context.Context, in *poolInput) (*body[*why.Answer], error) {
	a, err := s.options.Loop.WhyPool(ctx, in.Pool, in.Siblings)
	if err != nil {
		return nil, err
	}
	return answer(a), nil
}
