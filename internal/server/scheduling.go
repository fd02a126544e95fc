package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/settings"
)

// schedulingService gets and sets the parameters of a client of Scoot, in the forms that it knows. They are ordinary
// settings.
type schedulingService struct{ config *configService }

func (s *schedulingService) routes(a huma.API) {
	parameter(s.config, a, "class-load-percents", "The load of each class, in percent",
		func(p settings.Parameters) api.ClassLoad { return p.Load }, settings.SetLoad)
	parameter(s.config, a, "requestor-map", "The classes of requestors: the first expression that matches counts",
		func(p settings.Parameters) api.RequestorMap { return p.Requestors }, settings.SetRequestors)
	parameter(s.config, a, "rebalance-minimum-duration", "How long the spread has to be above the threshold before tasks are stopped; 0 is never",
		func(p settings.Parameters) api.RebalanceDuration { return p.Duration }, settings.SetDuration)
	parameter(s.config, a, "rebalance-threshold", "The spread of the loads above which tasks are stopped, in percentage points; 0 is never",
		func(p settings.Parameters) api.RebalanceThreshold { return p.Threshold }, settings.SetThreshold)
}

// parameter registers the operations that get and set one parameter.
func parameter[T any](
	s *configService, a huma.API, name, summary string,
	of func(settings.Parameters) T, change func(settings.Parameters, T) (api.SettingsRequest, error),
) {
	get := func(context.Context) (*T, error) {
		v := of(s.config.Parameters())
		return &v, nil
	}
	path := "/v1/scheduling/" + name
	handle(a, http.MethodGet, path, "get-"+name, summary, 0, alone(get))
	handle(a, http.MethodPut, path, "set-"+name, "Set: "+summary, 0, body(func(ctx context.Context, to T) (*T, error) {
		by, err := s.administrator(ctx, "")
		if err != nil {
			return nil, err
		}
		r, err := change(s.config.Parameters(), to)
		if err != nil {
			return nil, err
		}
		if len(r.Settings) > 0 {
			if _, err := s.config.Set(ctx, by, r); err != nil {
				return nil, err
			}
		}
		return get(ctx)
	}))
}
