package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// aboutPool finds the pool that is boosted, and its siblings.
func (a *Act) aboutPool(ctx context.Context, src Source, r *Request) error {
	path, by := r.Word("pool"), ""
	if a.Verb == "unboost" {
		var err error
		if a.Ends, err = boostOf(ctx, src, r.Word("id")); err != nil {
			return cmp.Or(r.You.may(access.Boost, access.Object{Pool: path}), err)
		}
		by = a.Ends.By
		path = a.Ends.Pool // the pool of the boost, whatever the address says
	}
	if err := r.You.may(access.Boost, access.Object{Pool: path, By: by}); err != nil {
		return err
	}
	a.Back += "pool?pool=" + url.QueryEscape(path)
	shares, err := src.Pools.Shares(ctx, "")
	if err != nil {
		return err
	}
	above := path[:max(0, strings.LastIndexByte(path, '/'))]
	for i := range shares.Pools {
		p := &shares.Pools[i]
		switch {
		case p.Path == path && path != "":
			a.Pool = p
		case p.Path != "" && p.Path[:max(0, strings.LastIndexByte(p.Path, '/'))] == above:
			a.Siblings = append(a.Siblings, *p)
		}
	}
	if a.Pool == nil && a.Ends != nil { // it is idle and not in the configuration
		a.Pool, a.Siblings = &views.PoolView{Path: path}, nil
	}
	if a.Pool == nil {
		return missing("there is no pool %.256q", path)
	}
	return nil
}

// aboutPause finds the pool that is paused or resumed, and the leaf pools below it with jobs.
func (a *Act) aboutPause(ctx context.Context, src Source, r *Request) error {
	path := r.Word("pool")
	if err := r.You.may(access.Pause, access.Object{Pool: path}); err != nil {
		return err
	}
	a.Back += "pool?pool=" + url.QueryEscape(path)
	shares, err := src.Pools.Shares(ctx, path)
	if err != nil {
		return err
	}
	if path == "" {
		return &queue.Invalid{Field: "pool", Msg: "name a pool: you cannot pause the whole cluster"}
	}
	a.Pool = &shares.Pools[0]
	for _, p := range leavesOf(shares.Pools) {
		if p.Path != a.Pool.Path && (p.Waiting > 0 || p.Tasks > 0) {
			a.Below = append(a.Below, *p)
		}
	}
	slices.SortStableFunc(a.Below, func(a, b views.PoolView) int { return cmp.Compare(b.Waiting, a.Waiting) })
	a.More = max(0, len(a.Below)-belowShown)
	a.Below = a.Below[:len(a.Below)-a.More]
	return nil
}

// pause pauses or resumes the pool as the form says.
func (a *Act) pause(ctx context.Context, src Source, r *Request) (err error) {
	if a.Verb == "resume" {
		a.Paused, err = src.Pools.Resume(ctx, a.Pool.Path)
		return err
	}
	req := api.PauseRequest{Pool: a.Pool.Path, Reason: r.Word("reason")}
	if text := strings.TrimSpace(r.Word("for")); text != "" {
		d, err := units.ParseDuration(text)
		if err == nil && d <= 0 {
			err = fmt.Errorf("must be more than 0")
		}
		if err != nil {
			return &queue.Invalid{Field: "for", Msg: err.Error()}
		}
		req.ForSeconds = d.Seconds()
	}
	a.Paused, err = src.Pools.Pause(ctx, req)
	return err
}

// boostOf finds a current boost by its number.
func boostOf(ctx context.Context, src Source, text string) (*engine.Boost, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return nil, &queue.Invalid{Field: "id", Msg: fmt.Sprintf("%.40q is not a boost number", text)}
	}
	all, err := src.Pools.Boosts(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all.Boosts, func(b engine.Boost) bool { return b.ID == id })
	if at < 0 {
		return nil, missing("boost %d has ended already", id)
	}
	return &all.Boosts[at], nil
}

// boost boosts a pool as the form says.
func boost(ctx context.Context, src Source, r *Request) (*api.BoostResponse, error) {
	factor, err := readFactor(r.Word("factor"))
	if err != nil {
		return nil, &queue.Invalid{Field: "factor", Msg: fmt.Sprintf("%.40q is not a factor such as 2", r.Word("factor"))}
	}
	d, err := units.ParseDuration(r.Word("for"))
	if err != nil {
		return nil, &queue.Invalid{Field: "for", Msg: err.Error()}
	}
	return src.Pools.Boost(ctx, api.BoostRequest{Pool: r.Word("pool"), Factor: factor, ForSeconds: d.Seconds(),
		Reason: r.Word("reason")})
}

// belowShown is the number of pools below a paused pool that are shown.
const belowShown = 20
