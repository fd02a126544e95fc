package server

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/web"
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

// bodyOf is what an operation answers.
func bodyOf[T any](b *body[T], err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &b.Body, nil
}
