package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/explain"
)

// reasons are the reasons for which the jobs of a pool waited in the last hour, the longest first.
type reasons struct {
	At, Since time.Time
	Rows      []waitReason
	More      int  // reasons that are not shown
	Below     bool // some are of pools below
}

type waitReason struct {
	explain.WaitReason
	Part float64 // of the time since Since
}

// reasonsShown is the maximum number of reasons on a page.
const reasonsShown = 8

// reasonsOf returns the reasons of a pool and the pools below it.
func reasonsOf(ctx context.Context, src Source, pool string) reasons {
	r := reasons{At: time.Now()}
	since, all := src.Pools.Reasons(ctx, pool)
	r.Since = since
	slices.SortStableFunc(all, func(a, b explain.WaitReason) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for _, x := range all[:min(len(all), reasonsShown)] {
		part := 0.0
		if whole := r.At.Sub(since).Seconds(); whole > 0 {
			part = min(1, x.Seconds/whole)
		}
		r.Rows = append(r.Rows, waitReason{x, part})
		r.Below = r.Below || x.Pool != pool
	}
	r.More = len(all) - len(r.Rows)
	return r
}

// When names the time that the reasons cover.
func (r *reasons) When() string { return "in the last " + timeCovered(r.At.Sub(r.Since).Seconds()) }
