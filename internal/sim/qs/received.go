package qs

import (
	"maps"
	"slices"
	"time"
)

// Received is for how long workers ran jobs of each group between two instants.
func Received(ran []Ran, from, to time.Duration) map[string]time.Duration {
	got := map[string]time.Duration{}
	for _, r := range ran {
		if d := min(r.End, to) - max(r.Start, from); d > 0 {
			got[r.Group] += d
		}
	}
	return got
}

// Shares are the parts of what the groups received together between two instants.
func Shares(ran []Ran, groups []string, from, to time.Duration) map[string]float64 {
	got := Received(ran, from, to)
	var all time.Duration
	for _, g := range groups {
		all += got[g]
	}
	shares := map[string]float64{}
	for _, g := range groups {
		if all > 0 {
			shares[g] = float64(got[g]) / float64(all)
		}
	}
	return shares
}

// AllWait is until when jobs of every group have been waiting from the beginning on, if
// all were submitted then.
func AllWait(ran []Ran) time.Duration {
	last := map[string]time.Duration{}
	for _, r := range ran {
		last[r.Group] = max(last[r.Group], r.Start)
	}
	if len(last) == 0 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Values(last)))
}
