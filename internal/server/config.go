package server

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/settings"
	"github.com/fairlead/fairlead/queue"
)

// Configuration is the configuration of a running server, with the record of its changes. [settings.Keeper] implements
// it.
type Configuration interface {
	Status() api.ConfigStatus
	Value(path string) (api.ConfigValue, error)
	Set(ctx context.Context, by settings.Actor, r api.SettingsRequest) (*api.SettingsResponse, error)
	Unset(ctx context.Context, by settings.Actor, r api.UnsetRequest) (*api.SettingsResponse, error)
	History(ctx context.Context, limit int) (*api.ConfigHistory, error)
	Parameters() settings.Parameters
	Read(f api.ConfigFile) (*config.Config, error)
	Diff(f api.ConfigFile) (*api.ConfigDiff, error)
	Plan(ctx context.Context, r api.ConfigPlanRequest) (*api.ConfigPlan, error)
	Apply(ctx context.Context, by settings.Actor, r api.ApplyRequest) (*api.ApplyResponse, error)
	Rollback(ctx context.Context, by settings.Actor, r api.RollbackRequest) (*api.ApplyResponse, error)
	Versions() api.ConfigVersions
	Version(number int) (api.ConfigVersion, error)
}

// fixed is a configuration that nobody can change.
type fixed struct{}

var errFixed = fmt.Errorf("the configuration of this server cannot be changed while it runs: %w", queue.ErrState)

func (fixed) Status() api.ConfigStatus                  { return api.ConfigStatus{} }
func (fixed) Value(string) (v api.ConfigValue, _ error) { return v, errFixed }
func (fixed) Parameters() (p settings.Parameters)       { return p }
func (fixed) Set(context.Context, settings.Actor, api.SettingsRequest) (*api.SettingsResponse, error) {
	return nil, errFixed
}
func (fixed) Unset(context.Context, settings.Actor, api.UnsetRequest) (*api.SettingsResponse, error) {
	return nil, errFixed
}
func (fixed) Read(f api.ConfigFile) (*config.Config, error) {
	return config.Parse(f.Name, []byte(f.Text))
}
func (fixed) Diff(api.ConfigFile) (*api.ConfigDiff, error) { return nil, errFixed }
func (fixed) Plan(context.Context, api.ConfigPlanRequest) (*api.ConfigPlan, error) {
	return nil, errFixed
}
func (fixed) Apply(context.Context, settings.Actor, api.ApplyRequest) (*api.ApplyResponse, error) {
	return nil, errFixed
}
func (fixed) Rollback(context.Context, settings.Actor, api.RollbackRequest) (*api.ApplyResponse, error) {
	return nil, errFixed
}
func (fixed) Versions() (v api.ConfigVersions)                         { return v }
func (fixed) Version(int) (v api.ConfigVersion, _ error)               { return v, errFixed }
func (fixed) History(context.Context, int) (*api.ConfigHistory, error) { return nil, errFixed }

// configService shows the configuration and changes it.
type configService struct {
	loop   *engine.Loop
	config Configuration
}

func (s *configService) Status(context.Context) (*api.ConfigStatus, error) {
	st := s.config.Status()
	return &st, nil
}

type valueInput struct {
	Path string `query:"path" required:"true" doc:"e.g. pools.physics.weight"`
}

func (s *configService) value(_ context.Context, in *valueInput) (*api.ConfigValue, error) {
	v, err := s.config.Value(in.Path)
	if err != nil {
		return nil, err
	}
	return &v, nil
}

func (s *configService) set(ctx context.Context, r api.SettingsRequest) (*api.SettingsResponse, error) {
	by, err := s.administrator(ctx, r.Reason)
	if err != nil {
		return nil, err
	}
	return s.config.Set(ctx, by, r)
}

// administrator returns the actor who changes the configuration, or an error if the principal may not.
func (s *configService) administrator(ctx context.Context, reason string) (by settings.Actor, err error) {
	me := who(ctx)
	if err := check(ctx, s.loop, access.Configure, access.Object{}); err != nil {
		return by, err
	}
	return settings.Actor{Who: me.Name, From: me.Via}, checkWords("reason", reason)
}

func (s *configService) unset(ctx context.Context, r api.UnsetRequest) (*api.SettingsResponse, error) {
	by, err := s.administrator(ctx, r.Reason)
	if err != nil {
		return nil, err
	}
	return s.config.Unset(ctx, by, r)
}

type historyInput struct {
	Limit int `query:"limit" minimum:"0" maximum:"100000" default:"100" doc:"Number of entries; 0 is all"`
}

func (s *configService) History(ctx context.Context, limit int) (*api.ConfigHistory, error) {
	return s.config.History(ctx, limit)
}
