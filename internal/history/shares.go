package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// How past shares are read.
const (
	shareSteps = 2000 // number of steps into which a time is divided
	shareBatch = 100  // pools at a time
)

// PastShares returns for each pool the fraction of the cluster to which the pool was entitled between two instants.
// This is the mean of the pool's shares over time, weighted by the service of all pools at each moment. That is the
// fraction that the pool would have had if the shares of each moment had divided all service. While a pool has no work,
// its last known share counts. For a pool without a known share the result is below 0.
func (rc *Recorder) PastShares(ctx context.Context, pools []string, from, to time.Time) ([]float64, error) {
	if now := time.Now(); to.After(now) {
		to = now
	}
	out := make([]float64, 0, len(pools))
	for batch := range slices.Chunk(pools, shareBatch) {
		with := []string{}
		for _, p := range batch {
			with = append(with, line(p)...)
		}
		slices.Sort(with)
		by, v, err := rc.stepsOf(ctx, slices.Compact(with), from, to,
			max(queue.HistoryLevels[0].Step, to.Sub(from)/shareSteps))
		if err != nil {
			return nil, fmt.Errorf("shares of the past: %w", err)
		}
		here := map[string][]float64{}
		for _, p := range slices.Compact(with) {
			here[p] = sharesAt(by[""], by[p], v.Step)
		}
		for _, p := range batch {
			out = append(out, meanShare(by[""], line(p), here))
		}
	}
	return out, nil
}

// PastDemand returns the demand of each pool between two instants, in seconds times the units that ran or waited. It is
// 0 for a pool without records.
func (rc *Recorder) PastDemand(ctx context.Context, pools []string, from, to time.Time) ([]float64, error) {
	if now := time.Now(); to.After(now) {
		to = now
	}
	out := make([]float64, 0, len(pools))
	for batch := range slices.Chunk(pools, shareBatch) {
		by, _, err := rc.stepsOf(ctx, batch, from, to, max(queue.HistoryLevels[0].Step, to.Sub(from)/shareSteps))
		if err != nil {
			return nil, fmt.Errorf("read the demand of the past: %w", err)
		}
		for _, p := range batch {
			sum := 0.0
			for _, s := range by[p] {
				sum += s.Demand
			}
			out = append(out, sum)
		}
	}
	return out, nil
}

// line returns a pool and the pools above it, without the root.
func line(path string) (all []string) {
	for i := 0; i < len(path); i++ {
		if path[i] == '/' {
			all = append(all, path[:i])
		}
	}
	if path != "" {
		all = append(all, path)
	}
	return all
}

// sharesAt returns the fractions of its parent to which a pool was entitled, at the steps of the root. For an unknown
// share it takes the last known one, or before the first known share, the first.
func sharesAt(root, pool []queue.HistoryStep, step time.Duration) []float64 {
	known := slices.DeleteFunc(slices.Clone(pool), func(s queue.HistoryStep) bool { return s.Seconds <= 0 })
	if len(known) == 0 {
		return nil
	}
	out := make([]float64, len(root))
	i := 0
	for k := range root {
		for i+1 < len(known) && known[i+1].At.Before(root[k].At.Add(step)) {
			i++
		}
		out[k] = known[i].Share / known[i].Seconds
	}
	return out
}

// meanShare returns the mean of the products of the shares of a pool and of the pools above it. The weights are the
// running units of the root or, if nothing ran, the time.
func meanShare(root []queue.HistoryStep, line []string, here map[string][]float64) float64 {
	var sum, weight, plain, seconds float64
	for k := range root {
		share := 1.0
		for _, p := range line {
			if here[p] == nil {
				return -1
			}
			share *= here[p][k]
		}
		sum, weight = sum+share*root[k].Running, weight+root[k].Running
		plain, seconds = plain+share*root[k].Seconds, seconds+root[k].Seconds
	}
	switch {
	case weight > 0:
		return sum / weight
	case seconds > 0:
		return plain / seconds
	}
	return -1
}
