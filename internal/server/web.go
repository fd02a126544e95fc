package server

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/why"
)

// source is the server as the dashboard sees it: each method is the operation of the interface
// that has its name, with the same answer and the same checks.
type source struct{ s *Server }

var _ web.Source = source{}

func (x source) You(ctx context.Context) api.Actor { return who(ctx).Actor }

func (x source) Version() uint64 { return x.s.options.Loop.Version() }

func (x source) Shares(ctx context.Context, pool string) (*api.Shares, error) {
	return bodyOf(x.s.shares(ctx, &sharesInput{Pool: pool}))
}

func (x source) Jobs(ctx context.Context, q fairlead.Query, o web.JobOptions) (*api.JobList, error) {
	return x.s.jobs(ctx, q, o)
}

func (x source) Waiting() int64 {
	_, waiting := x.s.options.Loop.Running()
	return waiting
}

func (x source) Job(ctx context.Context, id int64) (*api.JobResponse, error) {
	return bodyOf(x.s.job(ctx, &idInput{ID: id}))
}

func (x source) Why(ctx context.Context, id int64, o fairlead.WhyOptions) (*why.Answer, error) {
	return x.s.options.Loop.Why(ctx, id, o)
}

func (x source) History(ctx context.Context, id int64) (*api.History, error) {
	return bodyOf(x.s.history(ctx, &idInput{ID: id}))
}

func (x source) WhatIf(ctx context.Context, id int64, v api.Variation) (*why.WhatIf, error) {
	w, err := bodyOf(x.s.whatIf(ctx, &whatIfInput{ID: id, Body: v}))
	if err != nil {
		return nil, err
	}
	return *w, nil
}

func (x source) Log(ctx context.Context, id int64, task int, stderr bool, offset int64, limit int) (*api.LogChunk, error) {
	return bodyOf(x.s.logs(ctx, &logInput{ID: id, Task: task, Stderr: stderr, Offset: offset, Limit: limit}))
}

func (x source) Next(ctx context.Context, place int64, n int) (ids, places []int64) {
	return x.s.options.Loop.Order(ctx).After(place, n)
}

func (x source) Placed(ctx context.Context) func(id int64) bool {
	order := x.s.options.Loop.Order(ctx)
	return func(id int64) bool {
		_, placed := order.Position[id]
		return placed
	}
}

func (x source) WhyPool(ctx context.Context, pool string, siblings int) (*why.Answer, error) {
	return x.s.options.Loop.WhyPool(ctx, pool, siblings)
}

func (x source) Alter(ctx context.Context, r api.AlterRequest) (*api.AlterResponse, error) {
	return bodyOf(x.s.alter(ctx, &alterInput{r}))
}

func (x source) Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error) {
	return bodyOf(x.s.boost(ctx, &boostInput{r}))
}

func (x source) Unboost(ctx context.Context, id int64) (*api.BoostResponse, error) {
	return bodyOf(x.s.unboost(ctx, &unboostInput{ID: id}))
}

// bodyOf is what an operation answers.
func bodyOf[T any](b *body[T], err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &b.Body, nil
}
