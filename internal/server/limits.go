package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
)

// limitService returns the licenses and rates.
type limitService struct{ loop *engine.Loop }

func (s *limitService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/limits", "limits", "The licenses and rates: in use, left, waiting", 0, alone(s.Limits))
}

func (s *limitService) Limits(ctx context.Context) (*api.Limits, error) {
	licenses, rates := s.loop.Limits(ctx)
	return &api.Limits{Version: api.Version, At: time.Now(), Licenses: licenses, Rates: rates}, nil
}
