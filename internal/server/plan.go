package server

import (
	"context"

	"github.com/fairlead/fairlead/internal/api"
)

// maxFile is what a request with a configuration may hold: as JSON, a text of 1 MiB may
// take several times as much.
const maxFile = 8 << 20

type fileInput struct{ Body api.ConfigFile }

// configDiff is for everybody, as is the configuration in force.
func (s *Server) configDiff(_ context.Context, in *fileInput) (*body[*api.ConfigDiff], error) {
	d, err := s.options.Config.Diff(in.Body)
	if err != nil {
		return nil, err
	}
	return answer(d), nil
}

type planInput struct{ Body api.ConfigPlanRequest }

// configPlan is for administrators: it changes nothing, but takes the scheduler's time, and
// is what they apply.
func (s *Server) configPlan(ctx context.Context, in *planInput) (*body[*api.ConfigPlan], error) {
	if _, err := administrator(ctx, ""); err != nil {
		return nil, err
	}
	p, err := s.options.Config.Plan(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	return answer(p), nil
}

type applyInput struct{ Body api.ApplyRequest }

func (s *Server) configApply(ctx context.Context, in *applyInput) (*body[*api.ApplyResponse], error) {
	by, err := administrator(ctx, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	out, err := s.options.Config.Apply(ctx, by, in.Body)
	if err != nil {
		return nil, err
	}
	return answer(out), nil
}

type rollbackInput struct{ Body api.RollbackRequest }

func (s *Server) configRollback(ctx context.Context, in *rollbackInput) (*body[*api.ApplyResponse], error) {
	by, err := administrator(ctx, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	out, err := s.options.Config.Rollback(ctx, by, in.Body)
	if err != nil {
		return nil, err
	}
	return answer(out), nil
}

func (s *Server) configVersions(context.Context, *struct{}) (*body[api.ConfigVersions], error) {
	return answer(s.options.Config.Versions()), nil
}

type versionInput struct {
	Number int `path:"number" minimum:"1"`
}

func (s *Server) configVersion(_ context.Context, in *versionInput) (*body[api.ConfigVersion], error) {
	v, err := s.options.Config.Version(in.Number)
	if err != nil {
		return nil, err
	}
	return answer(v), nil
}
