package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/why"
)

// LicenseView is a license as `fairlead limits` shows it.
type LicenseView struct {
	Name    string       `json:"name"`
	Total   int64        `json:"total"`
	Used    int64        `json:"used"`
	Waiting int64        `json:"waiting"` // tasks that request it
	Holders []why.Holder `json:"holders"` // the largest holders first
}

// RateView is a rate as `fairlead limits` shows it.
type RateView struct {
	Name    string     `json:"name"`
	Limit   string     `json:"limit"` // e.g. 5/s; empty: not configured any more
	Burst   int64      `json:"burst"`
	Left    int64      `json:"left"`           // starts that are allowed at once
	Next    *time.Time `json:"next,omitempty"` // when the next start is allowed, if none is left
	Waiting int64      `json:"waiting"`        // tasks that are subject to it
	Kinds   []string   `json:"kinds,omitempty"`
}

// Limits returns the licenses and rates of the cluster.
func (l *Loop) Limits(ctx context.Context) ([]LicenseView, []RateView) {
	if err := l.Refresh(ctx); err != nil {
		l.Log.Warn("the limits shown are from an older state", "error", err)
	}
	return Read2(l, func(s *State) ([]LicenseView, []RateView) {
		s.Core.Advance(time.Now())
		held, limited := s.Core.Read().Quotas()
		licenses, rates := make([]LicenseView, len(held)), make([]RateView, len(limited))
		for i, x := range held {
			licenses[i] = LicenseView{x.Name, x.Total, x.Used, x.Waiting, s.Runs.Holders(x.Name)}
		}
		for i, x := range limited {
			rates[i] = RateView{Name: x.Name, Burst: x.Burst, Left: x.Left, Waiting: x.Waiting}
			if x.Limit.Count > 0 {
				rates[i].Limit = x.Limit.String()
			}
			if !x.Next.IsZero() {
				rates[i].Next = &x.Next
			}
			for _, kind := range slices.Sorted(maps.Keys(s.Shares.KindRates)) {
				if slices.Contains(s.Shares.KindRates[kind], x.Name) {
					rates[i].Kinds = append(rates[i].Kinds, kind)
				}
			}
		}
		return licenses, rates
	})
}
