package top

import (
	"context"
	"net/url"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/why"
)

// source is the server that is shown.
type source interface {
	Shares(ctx context.Context, pool string) (*api.Shares, error)
	Jobs(ctx context.Context, q url.Values) (*api.JobList, error)
	Nodes(ctx context.Context) (*api.Nodes, error)
	Limits(ctx context.Context) (*api.Limits, error)
	Health(ctx context.Context) (*api.Diagnosis, error)
	Why(ctx context.Context, id int64, o explain.WhyOptions) (*why.Answer, error)
	WhyPool(ctx context.Context, pool string) (*why.Answer, error)
	Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error)
	Events(ctx context.Context, q url.Values, f func(api.Event) error) error
}

// served is a server behind a client.
type served struct{ client *api.Client }

func (s served) Shares(ctx context.Context, pool string) (*api.Shares, error) {
	return s.client.Pools.Shares(ctx, pool)
}

func (s served) Jobs(ctx context.Context, q url.Values) (*api.JobList, error) {
	return s.client.Jobs.List(ctx, q)
}

func (s served) Nodes(ctx context.Context) (*api.Nodes, error) { return s.client.Nodes.List(ctx) }

func (s served) Limits(ctx context.Context) (*api.Limits, error) {
	return s.client.Nodes.Limits(ctx, false)
}

func (s served) Health(ctx context.Context) (*api.Diagnosis, error) {
	return s.client.Doctor(ctx, true)
}

func (s served) Why(ctx context.Context, id int64, o explain.WhyOptions) (*why.Answer, error) {
	return s.client.Jobs.Why(ctx, id, o)
}

func (s served) WhyPool(ctx context.Context, pool string) (*why.Answer, error) {
	return s.client.Pools.Why(ctx, pool)
}

func (s served) Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error) {
	return s.client.Pools.Boost(ctx, r)
}

func (s served) Events(ctx context.Context, q url.Values, f func(api.Event) error) error {
	return s.client.Events(ctx, q, f)
}
