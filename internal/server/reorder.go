package server

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

type reorderInput struct{ Body api.ReorderRequest }

// reorder changes nothing: it says what an alteration would do to the order of starts.
func (s *Server) reorder(ctx context.Context, in *reorderInput) (*body[api.Reorder], error) {
	q := &in.Body
	v := fairlead.Variation{QOS: q.QOS, Nice: q.Nice}
	if q.Priority != "" {
		v.Priority = &q.Priority
	}
	if q.Nice != nil {
		if err := checkNice(who(ctx), *q.Nice); err != nil {
			return nil, err
		}
	}
	r, err := s.options.Loop.Reorder(ctx, q.Jobs, v)
	if err != nil {
		return nil, err
	}
	return answer(api.Reorder{Version: api.Version, Reordering: *r}), nil
}
