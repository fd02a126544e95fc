package server

import (
	"context"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
)

// maxFile is the largest request with a configuration: as JSON, a text of 1 MiB may take several times as much.
const maxFile = 8 << 20

// Diff is open to everybody, like the configuration that is current.
func (s *configService) Diff(ctx context.Context, f api.ConfigFile) (*api.ConfigDiff, error) {
	if err := check(ctx, s.loop, access.Look, access.Object{}); err != nil {
		return nil, err
	}
	return s.config.Diff(f)
}

// Plan is for administrators. It changes nothing, but it takes the scheduler's time, and only administrators
// apply plans.
func (s *configService) Plan(ctx context.Context, r api.ConfigPlanRequest) (*api.ConfigPlan, error) {
	if _, err := s.administrator(ctx, ""); err != nil {
		return nil, err
	}
	return s.config.Plan(ctx, r)
}

func (s *configService) Apply(ctx context.Context, r api.ApplyRequest) (*api.ApplyResponse, error) {
	by, err := s.administrator(ctx, r.Reason)
	if err != nil {
		return nil, err
	}
	return s.config.Apply(ctx, by, r)
}

func (s *configService) Rollback(ctx context.Context, r api.RollbackRequest) (*api.ApplyResponse, error) {
	by, err := s.administrator(ctx, r.Reason)
	if err != nil {
		return nil, err
	}
	return s.config.Rollback(ctx, by, r)
}

func (s *configService) Versions(context.Context) (*api.ConfigVersions, error) {
	v := s.config.Versions()
	return &v, nil
}

type versionInput struct {
	Number int `path:"number" minimum:"1"`
}

func (s *configService) Version(_ context.Context, number int) (*api.ConfigVersion, error) {
	v, err := s.config.Version(number)
	if err != nil {
		return nil, err
	}
	return &v, nil
}
