package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/why"
)

// Boost gives a pool more weight for a time.
func (s *poolsService) Boost(ctx context.Context, r BoostRequest) (*BoostResponse, error) {
	return post[BoostResponse](ctx, s.client, "/v1/boosts", r)
}

// Boosts lists the boosts that are active.
func (s *poolsService) Boosts(ctx context.Context) (*Boosts, error) {
	return get[Boosts](ctx, s.client, "/v1/boosts", nil)
}

// Unboost ends a boost before its time.
func (s *poolsService) Unboost(ctx context.Context, id int64) (*BoostResponse, error) {
	out := new(BoostResponse)
	return out, s.client.Call(ctx, http.MethodDelete, fmt.Sprint("/v1/boosts/", id), nil, out)
}

// Why explains the service of a pool, or of a user's pool.
func (s *poolsService) Why(ctx context.Context, pool string) (*why.Answer, error) {
	return get[why.Answer](ctx, s.client, "/v1/why/pool", url.Values{"pool": {pool}})
}

// Shares returns the tree of pools, or the part below one.
func (s *poolsService) Shares(ctx context.Context, pool string) (*Shares, error) {
	q := url.Values{}
	if pool != "" {
		q.Set("pool", pool)
	}
	return get[Shares](ctx, s.client, "/v1/shares", q)
}

// History returns how a pool fared between two instants; a zero second instant means now. The steps have the given
// length, or a suitable one if that is 0.
func (s *poolsService) History(ctx context.Context, pool string, since, until time.Time, step time.Duration) (*PoolHistory, error) {
	q := url.Values{"pool": {pool}, "since": {since.Format(time.RFC3339Nano)}}
	if !until.IsZero() {
		q.Set("until", until.Format(time.RFC3339Nano))
	}
	if step > 0 {
		q.Set("step_seconds", strconv.FormatFloat(step.Seconds(), 'f', -1, 64))
	}
	return get[PoolHistory](ctx, s.client, "/v1/history", q)
}

// Pause keeps the waiting tasks of a pool from starting.
func (s *poolsService) Pause(ctx context.Context, r PauseRequest) (*PauseResponse, error) {
	return post[PauseResponse](ctx, s.client, "/v1/pauses", r)
}

// Pauses lists the pauses that are active.
func (s *poolsService) Pauses(ctx context.Context) (*Pauses, error) {
	return get[Pauses](ctx, s.client, "/v1/pauses", nil)
}

// Resume lets a paused pool start its waiting tasks.
func (s *poolsService) Resume(ctx context.Context, pool string) (*PauseResponse, error) {
	out := new(PauseResponse)
	return out, s.client.Call(ctx, http.MethodDelete, "/v1/pauses?pool="+url.QueryEscape(pool), nil, out)
}

// SetUsage sets the usage of a pool.
func (s *poolsService) SetUsage(ctx context.Context, r UsageRequest) (*UsageResponse, error) {
	out := new(UsageResponse)
	return out, s.client.Call(ctx, http.MethodPut, "/v1/usage", r, out)
}
