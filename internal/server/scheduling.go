package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/settings"
)

// schedulingRoutes are the parameters that a client of Scoot gets and sets, in the shapes
// that it knows. They are settings like any other.
func (s *Server) schedulingRoutes(a huma.API) {
	parameter(s, a, "class-load-percents", "The load of each class, in percent",
		func(p settings.Parameters) api.ClassLoad { return p.Load }, settings.SetLoad)
	parameter(s, a, "requestor-map", "Which requestors belong to which class: the first expression that matches counts",
		func(p settings.Parameters) api.RequestorMap { return p.Requestors }, settings.SetRequestors)
	parameter(s, a, "rebalance-minimum-duration", "For how long the spread has to be above the threshold before tasks are stopped; 0 is never",
		func(p settings.Parameters) api.RebalanceDuration { return p.Duration }, settings.SetDuration)
	parameter(s, a, "rebalance-threshold", "The spread of the loads above which tasks are stopped, in percentage points; 0 is never",
		func(p settings.Parameters) api.RebalanceThreshold { return p.Threshold }, settings.SetThreshold)
}

// parameter registers how to get and set one of them.
func parameter[T any](s *Server, a huma.API, name, summary string, of func(settings.Parameters) T, change func(settings.Parameters, T) (api.SettingsRequest, error)) {
	type input struct{ Body T }
	path := "/v1/scheduling/" + name
	handle(a, http.MethodGet, path, "get-"+name, summary, 0, func(context.Context, *struct{}) (*body[T], error) {
		return answer(of(s.options.Config.Parameters())), nil
	})
	handle(a, http.MethodPut, path, "set-"+name, "Set: "+summary, 0, func(ctx context.Context, in *input) (*body[T], error) {
		by, err := administrator(ctx, "")
		if err != nil {
			return nil, err
		}
		r, err := change(s.options.Config.Parameters(), in.Body)
		if err != nil {
			return nil, err
		}
		if len(r.Settings) > 0 {
			if _, err := s.options.Config.Set(ctx, by, r); err != nil {
				return nil, err
			}
		}
		return answer(of(s.options.Config.Parameters())), nil
	})
}
