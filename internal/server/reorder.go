package server

import (
	"context"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/forecast"
)

// Reorder returns the effect that altering jobs would have on the order of starts. It changes
// nothing.
func (s *jobService) Reorder(ctx context.Context, q api.ReorderRequest) (*api.Reorder, error) {
	if err := check(ctx, s.loop, access.Look, access.Object{}); err != nil {
		return nil, err
	}
	me := who(ctx)
	v := forecast.Variation{QOS: q.QOS, Nice: q.Nice, By: &me}
	if q.Priority != "" {
		v.Priority = &q.Priority
	}
	if q.Nice != nil {
		if err := checkNice(ctx, s.loop, *q.Nice); err != nil {
			return nil, err
		}
	}
	r, err := s.forecaster.Reorder(ctx, q.Jobs, v)
	if err != nil {
		return nil, err
	}
	return &api.Reorder{Version: api.Version, Reordering: *r}, nil
}
