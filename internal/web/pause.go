package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
)

// pauseSource pauses pools.
type pauseSource interface {
	// Pause keeps what waits in a pool from starting.
	Pause(ctx context.Context, r api.PauseRequest) (*api.PauseResponse, error)
	// Resume lets it start again.
	Resume(ctx context.Context, pool string) (*api.PauseResponse, error)
}

// belowShown is how many pools below one that is paused are shown.
const belowShown = 20

// aboutPause finds the pool that is paused or resumed, and those below it that are hit.
func (a *Act) aboutPause(ctx context.Context, src Source, r *Request) error {
	if !r.You.Admin {
		return fmt.Errorf("only administrators may pause pools: %w", fairlead.ErrForbidden)
	}
	path := r.Word("pool")
	a.Back += "pool?pool=" + url.QueryEscape(path)
	shares, err := src.Shares(ctx, path)
	if err != nil {
		return err
	}
	if path == "" {
		return &fairlead.Invalid{Field: "pool", Msg: "name a pool: everything cannot be paused at once"}
	}
	a.Pool = &shares.Pools[0]
	for _, p := range leavesOf(shares.Pools) {
		if p.Path != a.Pool.Path && (p.Waiting > 0 || p.Tasks > 0) {
			a.Below = append(a.Below, *p)
		}
	}
	slices.SortStableFunc(a.Below, func(a, b fairlead.PoolView) int { return cmp.Compare(b.Waiting, a.Waiting) })
	a.More = max(0, len(a.Below)-belowShown)
	a.Below = a.Below[:len(a.Below)-a.More]
	return nil
}

// pause does what the form says of a pause.
func (a *Act) pause(ctx context.Context, src Source, r *Request) (err error) {
	if a.Verb == "resume" {
		a.Paused, err = src.Resume(ctx, a.Pool.Path)
		return err
	}
	req := api.PauseRequest{Pool: a.Pool.Path, Reason: r.Word("reason")}
	if text := strings.TrimSpace(r.Word("for")); text != "" {
		d, err := units.ParseDuration(text)
		if err == nil && d <= 0 {
			err = fmt.Errorf("must be more than 0")
		}
		if err != nil {
			return &fairlead.Invalid{Field: "for", Msg: err.Error()}
		}
		req.ForSeconds = d.Seconds()
	}
	a.Paused, err = src.Pause(ctx, req)
	return err
}
