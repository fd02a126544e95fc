package api

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
)

// Status returns the configuration that is current.
func (s *configService) Status(ctx context.Context) (*ConfigStatus, error) {
	return get[ConfigStatus](ctx, s.client, "/v1/config", nil)
}

// Diff returns the differences between the current configuration and another.
func (s *configService) Diff(ctx context.Context, f ConfigFile) (*ConfigDiff, error) {
	return post[ConfigDiff](ctx, s.client, "/v1/config/diff", f)
}

// Plan returns what a configuration would change.
func (s *configService) Plan(ctx context.Context, f ConfigPlanRequest) (*ConfigPlan, error) {
	return post[ConfigPlan](ctx, s.client, "/v1/config/plan", f)
}

// Apply applies a plan.
func (s *configService) Apply(ctx context.Context, r ApplyRequest) (*ApplyResponse, error) {
	return post[ApplyResponse](ctx, s.client, "/v1/config/apply", r)
}

// Rollback applies an earlier version of the file.
func (s *configService) Rollback(ctx context.Context, r RollbackRequest) (*ApplyResponse, error) {
	return post[ApplyResponse](ctx, s.client, "/v1/config/rollback", r)
}

// Versions returns the versions of the file that are kept.
func (s *configService) Versions(ctx context.Context) (*ConfigVersions, error) {
	return get[ConfigVersions](ctx, s.client, "/v1/config/versions", nil)
}

// Version returns one version with its text.
func (s *configService) Version(ctx context.Context, number int) (*ConfigVersion, error) {
	return get[ConfigVersion](ctx, s.client, fmt.Sprint("/v1/config/versions/", number), nil)
}

// Set makes settings that override the file.
func (s *configService) Set(ctx context.Context, r SettingsRequest) (*SettingsResponse, error) {
	return post[SettingsResponse](ctx, s.client, "/v1/config/set", r)
}

// Unset removes settings, so that the values of the file apply again.
func (s *configService) Unset(ctx context.Context, r UnsetRequest) (*SettingsResponse, error) {
	return post[SettingsResponse](ctx, s.client, "/v1/config/unset", r)
}

// Value returns the effective value at one place of the configuration.
func (s *configService) Value(ctx context.Context, path string) (*ConfigValue, error) {
	return get[ConfigValue](ctx, s.client, "/v1/config/value", url.Values{"path": {path}})
}

// History returns the record of changes.
func (s *configService) History(ctx context.Context, limit int) (*ConfigHistory, error) {
	return get[ConfigHistory](ctx, s.client, "/v1/config/history", url.Values{"limit": {strconv.Itoa(limit)}})
}
