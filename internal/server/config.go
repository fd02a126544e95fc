package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/settings"
)

// Configuration is the configuration of a server that runs, and the record of its
// changes. [settings.Keeper] is one.
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

var errFixed = fmt.Errorf("the configuration of this server cannot be changed while it runs: %w", fairlead.ErrState)

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

func (s *Server) configRoutes(a huma.API) {
	handle(a, http.MethodGet, "/v1/config", "config", "The configuration in force", 0, s.config)
	handle(a, http.MethodGet, "/v1/config/value", "config-value", "What is in force at one place of the configuration", 0, s.configValue)
	handle(a, http.MethodPost, "/v1/config/set", "config-set", "Put settings over the file, in force at the next step and over a restart", 0, s.configSet)
	handle(a, http.MethodPost, "/v1/config/unset", "config-unset", "Give settings back to the file", 0, s.configUnset)
	handle(a, http.MethodGet, "/v1/config/history", "config-history", "The record of changes, newest first", 0, s.configHistory)
	handle(a, http.MethodPost, "/v1/config/diff", "config-diff", "What differs between the configuration in force and another", maxFile, s.configDiff)
	handle(a, http.MethodPost, "/v1/config/plan", "config-plan", "What a configuration would change if it were put into force now", maxFile, s.configPlan)
	handle(a, http.MethodPost, "/v1/config/apply", "config-apply", "Put a plan into force, if nothing it was made from has changed", 0, s.configApply)
	handle(a, http.MethodPost, "/v1/config/rollback", "config-rollback", "Put an earlier version of the file into force", 0, s.configRollback)
	handle(a, http.MethodGet, "/v1/workload", "workload", "What ran lately and what waits, as a workload for the simulator", 0, s.workload)
	handle(a, http.MethodGet, "/v1/config/versions", "config-versions", "The versions of the file that are kept, newest first", 0, s.configVersions)
	handle(a, http.MethodGet, "/v1/config/versions/{number}", "config-version", "One version of the file, with its text", 0, s.configVersion)
}

func (s *Server) config(context.Context, *struct{}) (*body[api.ConfigStatus], error) {
	return answer(s.options.Config.Status()), nil
}

type valueInput struct {
	Path string `query:"path" required:"true" doc:"e.g. pools.physics.weight"`
}

func (s *Server) configValue(_ context.Context, in *valueInput) (*body[api.ConfigValue], error) {
	v, err := s.options.Config.Value(in.Path)
	if err != nil {
		return nil, err
	}
	return answer(v), nil
}

type setInput struct{ Body api.SettingsRequest }

func (s *Server) configSet(ctx context.Context, in *setInput) (*body[*api.SettingsResponse], error) {
	by, err := administrator(ctx, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	out, err := s.options.Config.Set(ctx, by, in.Body)
	if err != nil {
		return nil, err
	}
	return answer(out), nil
}

// administrator is who may change the configuration.
func administrator(ctx context.Context, reason string) (by settings.Actor, err error) {
	me := who(ctx)
	if err := check(me, doShares, ""); err != nil {
		return by, err
	}
	return settings.Actor{Who: me.User, From: me.By}, checkWords("reason", reason)
}

type unsetInput struct{ Body api.UnsetRequest }

func (s *Server) configUnset(ctx context.Context, in *unsetInput) (*body[*api.SettingsResponse], error) {
	by, err := administrator(ctx, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	out, err := s.options.Config.Unset(ctx, by, in.Body)
	if err != nil {
		return nil, err
	}
	return answer(out), nil
}

type historyInput struct {
	Limit int `query:"limit" minimum:"0" maximum:"100000" default:"100" doc:"How many entries; 0 is all"`
}

func (s *Server) configHistory(ctx context.Context, in *historyInput) (*body[*api.ConfigHistory], error) {
	h, err := s.options.Config.History(ctx, in.Limit)
	if err != nil {
		return nil, err
	}
	return answer(h), nil
}
