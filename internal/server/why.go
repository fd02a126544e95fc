package server

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// whyService explains where jobs and pools stand, and forecasts them.
type whyService struct {
	loop       *engine.Loop
	explainer  *explain.Explainer
	forecaster *forecast.Forecaster
	bridged    *bridged
	names      *names
}

func (s *whyService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/jobs/{id}/why", "why-job", "Explain the state of a job", 0, s.whyJob)
	handle(a, http.MethodPost, "/v1/jobs/{id}/what-if", "what-if", "Forecast a waiting job with other requests", 0,
		func(ctx context.Context, in *whatIfInput) (*why.WhatIf, error) { return s.WhatIf(ctx, in.ID, in.Body) })
	handle(a, http.MethodGet, "/v1/jobs/{id}/versus", "why-versus", "Compare a job with a job, a pool or a user: which goes first, and why", 0, s.versus)
	handle(a, http.MethodGet, "/v1/why/pool", "why-pool", "Explain why a pool gets its share", 0, s.whyPool)
}

type whyInput struct {
	ID       int64 `path:"id"`
	Siblings int   `query:"siblings" minimum:"0" maximum:"100000" default:"10" doc:"Number of pools to list before the job's own at each level; 0 is all"`
	Evidence bool  `query:"evidence" doc:"Add the numbers that recompute the answer"`
	Estimate bool  `query:"estimate" doc:"Add an estimate of the start of a waiting job, and changes with which it would start sooner; it may take 200 ms"`
}

// whyJob returns the answer without a schema, because its numbers can be infinite.
func (s *whyService) whyJob(ctx context.Context, in *whyInput) (*why.Answer, error) {
	o := explain.WhyOptions{Siblings: in.Siblings, Evidence: in.Evidence, Estimate: in.Estimate}
	if in.Evidence {
		o.Siblings = 0
	}
	return s.Why(ctx, in.ID, o)
}

// Why explains a job, with what bridges report about it.
func (s *whyService) Why(ctx context.Context, id int64, o explain.WhyOptions) (*why.Answer, error) {
	a, err := s.forecaster.Why(ctx, id, o)
	if err != nil {
		return nil, err
	}
	keepAllowed(ctx, s.loop, a)
	if a.Subject.Running > 0 {
		a.Bridged = s.bridged.of(id)
	}
	if used := s.bridged.used.of(id); used != nil && a.Reason.Code == why.StateRunning {
		j, err := s.loop.Client().Job(ctx, id)
		if err != nil {
			return nil, err
		}
		a.Reason.Text += "; it uses " + words.UsedNow(used, j.Request) + ", measured " + instant.Text(*used.At)
	}
	if len(a.Bridged) > 0 && a.Reason.Code == why.StateQueued {
		a.Reason.Text = a.Bridged[0].Sentence()
	}
	return a, nil
}

// raising matches the advice to raise the priority of a job, with the priority.
var raising = regexp.MustCompile(`(?:raise its priority: )?fairlead alter \d+ --priority (\w+)`)

// keepAllowed changes the advice to raise the priority if the actor may not do that. It removes such changes from the
// answer, and advises to ask an administrator.
func keepAllowed(ctx context.Context, loop *engine.Loop, a *why.Answer) {
	me, shares := who(ctx), loop.Client().Shares.Load()
	j := &queue.Job{User: a.Subject.User, Pool: a.Subject.Pool}
	a.Changes = slices.DeleteFunc(slices.Clone(a.Changes), func(c why.Change) bool {
		return c.Priority != "" && shares.CheckRights(&me, j, queue.Alteration{Priority: c.Priority}) != nil
	})
	ask := func(r *why.Reason) {
		if m := raising.FindStringSubmatch(r.Next); m != nil &&
			shares.CheckRights(&me, j, queue.Alteration{Priority: m[1]}) != nil {
			r.Next = strings.Replace(r.Next, m[0], "ask an administrator to raise its priority", 1)
		}
	}
	ask(&a.Reason)
	a.Others = slices.Clone(a.Others)
	for i := range a.Others {
		ask(&a.Others[i])
	}
}

type whatIfInput struct {
	ID   int64 `path:"id"`
	Body api.Variation
}

func (s *whyService) WhatIf(ctx context.Context, id int64, v api.Variation) (*why.WhatIf, error) {
	if err := check(ctx, s.loop, access.Look, access.Object{}); err != nil {
		return nil, err
	}
	if v.Nice != nil {
		if err := checkNice(ctx, s.loop, *v.Nice); err != nil {
			return nil, err
		}
	}
	if v.Pool != nil {
		pool := s.loop.Intake.PoolFor(ctx, *v.Pool)
		v.Pool = &pool
	}
	asked := v.ToVariation()
	me := who(ctx)
	asked.By = &me
	return s.forecaster.WhatIf(ctx, id, asked)
}

type versusInput struct {
	ID    int64  `path:"id"`
	Other string `query:"other" required:"true" doc:"A job, a pool or a user"`
}

func (s *whyService) versus(ctx context.Context, in *versusInput) (*api.Versus, error) {
	c, units, err := s.explainer.Versus(ctx, in.ID, in.Other)
	if err != nil {
		return nil, err
	}
	return &api.Versus{Comparison: c, Units: units}, nil
}

type poolInput struct {
	Pool     string `query:"pool" required:"true" doc:"Path of a pool, or a user"`
	Siblings int    `query:"siblings" minimum:"0" maximum:"100000" default:"10"`
}

// poolsOf returns the pools of the unfinished jobs of a user without a pool. The argument err says that there is no
// such pool.
func (s *whyService) poolsOf(ctx context.Context, user string, err error) (pools []string) {
	if !errors.Is(err, queue.ErrNotFound) {
		return nil
	}
	const most = 1000
	jobs, err := s.loop.Client().Jobs(ctx, queue.Query{User: user, Limit: most, States: []queue.State{queue.Waiting,
		queue.Queued, queue.Running, queue.Held, queue.Blocked}})
	if err != nil {
		return nil // the first error says enough
	}
	for _, j := range jobs {
		if name := share.Original(j.Pool); !slices.Contains(pools, name) {
			pools = append(pools, name)
		}
	}
	slices.Sort(pools)
	return pools
}

func (s *whyService) whyPool(ctx context.Context, in *poolInput) (*why.Answer, error) {
	a, err := s.explainer.WhyPool(ctx, in.Pool, in.Siblings)
	if err != nil {
		if pools := s.poolsOf(ctx, in.Pool, err); len(pools) > 0 {
			return nil, queue.Missingf("%s has no pool; its jobs are in %s: fairlead why %s", in.Pool,
				strings.Join(pools, ", "), pools[0])
		}
		return nil, newcomer(s.loop.Client().Shares.Load(), s.names, in.Pool, err)
	}
	return a, nil
}
