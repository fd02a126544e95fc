package qs_test

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/sim/qs"
)

// received returns the time for which workers ran jobs of each group between two instants.
func received(ran []qs.Ran, from, to time.Duration) map[string]time.Duration {
	got := map[string]time.Duration{}
	for _, r := range ran {
		if d := min(r.End, to) - max(r.Start, from); d > 0 {
			got[r.Group] += d
		}
	}
	return got
}

// shares returns the fractions of the groups in their common service between two instants.
func shares(ran []qs.Ran, groups []string, from, to time.Duration) map[string]float64 {
	got := received(ran, from, to)
	var all time.Duration
	for _, g := range groups {
		all += got[g]
	}
	parts := map[string]float64{}
	for _, g := range groups {
		if all > 0 {
			parts[g] = float64(got[g]) / float64(all)
		}
	}
	return parts
}

// allWait returns the instant until which jobs of every group have been waiting, if all jobs were submitted
// at the beginning.
func allWait(ran []qs.Ran) time.Duration {
	last := map[string]time.Duration{}
	for _, r := range ran {
		last[r.Group] = max(last[r.Group], r.Start)
	}
	if len(last) == 0 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Values(last)))
}
