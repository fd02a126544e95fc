package server

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
)

// limitService returns the licenses and rates.
type limitService struct{ loop *engine.Loop }

func (s *limitService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/limits", "limits", "The licenses and rates: in use, left, waiting", 0, s.limits)
}

type limitsInput struct {
	Users bool `query:"users" doc:"Add the numbers of each user, and the limits per user"`
}

func (s *limitService) limits(ctx context.Context, in *limitsInput) (*api.Limits, error) {
	out, err := s.Limits(ctx)
	if err != nil || !in.Users {
		return out, err
	}
	if out.Users, err = s.loop.Intake.UsersNearLimits(ctx, 0); err != nil {
		return nil, err
	}
	slices.SortFunc(out.Users, func(a, b engine.UserStanding) int {
		return cmp.Or(cmp.Compare(b.Running, a.Running), cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(a.User, b.User))
	})
	out.UserLimits = s.userLimits()
	return out, nil
}

// RunningPerUser returns the limit of the running tasks of each user; 0 is none.
func (s *limitService) RunningPerUser() int { return s.loop.Client().Shares.Load().Users.Running }

// userLimits returns the limits per user by their fields in user_limits; limits of 0 are left out.
func (s *limitService) userLimits() map[string]int {
	most := s.loop.Client().Shares.Load().Users
	out := map[string]int{"running": most.Running, "jobs": most.Jobs, "tasks": most.Tasks, "pools": most.Pools}
	maps.DeleteFunc(out, func(_ string, most int) bool { return most == 0 })
	return out
}

func (s *limitService) Limits(ctx context.Context) (*api.Limits, error) {
	licenses, rates := s.loop.Limits(ctx)
	return &api.Limits{Version: api.Version, At: time.Now(), Licenses: licenses, Rates: rates}, nil
}
