package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// historyView is the history of pools, in steps of one length.
type historyView struct {
	From, To time.Time
	Step     time.Duration
	Pools    [][]HistoryPoint // in the order of the request
}

// maxHistory is the maximum number of steps in a [HistoryView].
const maxHistory = 20_000

// PoolHistory returns the history of pools between two instants. Step is the requested length of the steps. They are
// longer if the stored steps of that time are longer. 0 means the finest length that gives at most a few hundred
// steps. Steps without known values, when no server ran, are left out.
func (rc *Recorder) PoolHistory(ctx context.Context, pools []string, from, to time.Time,
	step time.Duration) (*historyView, error) {
	by, v, err := rc.stepsOf(ctx, pools, from, to, step)
	if err != nil {
		return nil, err
	}
	for _, pool := range pools {
		if err := rc.knownPool(pool, len(by[pool]) > 0); err != nil {
			return nil, err
		}
		v.Pools = append(v.Pools, points(by[""], by[pool]))
	}
	return v, nil
}

// stepsOf returns the stored steps of pools and of the root; the view has no pools yet.
func (rc *Recorder) stepsOf(ctx context.Context, pools []string, from, to time.Time,
	step time.Duration) (map[string][]queue.HistoryStep, *historyView, error) {
	keeper, ok := rc.loop.Store.(queue.HistoryKeeper)
	if !ok {
		return nil, nil, fmt.Errorf("the store keeps no history: %w", queue.ErrInvalid)
	}
	level, v, err := historyRange(from, to, step, time.Now())
	if err != nil {
		return nil, nil, err
	}
	asked := append([]string{""}, pools...)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if err := rc.moving.Acquire(ctx, 1); err != nil {
		return nil, nil, fmt.Errorf("read the history: %w", err)
	}
	defer rc.moving.Release(1)
	kept, err := keeper.PoolHistory(ctx, queue.HistoryQuery{Pools: asked, Level: level, From: v.From, To: v.To})
	if err != nil {
		return nil, nil, fmt.Errorf("read the history: %w", err)
	}
	by := map[string][]queue.HistoryStep{}
	for _, p := range kept {
		for _, s := range p.Steps {
			by[p.Pool] = addStep(by[p.Pool], s, v.Step)
		}
	}
	return by, v, rc.addHeld(ctx, keeper, by, asked, v)
}

// historyRange chooses the level to read, the length of the steps, and their ends.
func historyRange(from, to time.Time, step time.Duration, now time.Time) (level int, v *historyView, err error) {
	if !from.Before(to) {
		return 0, nil, queue.Invalidf("since", "must be before the end of the time that is asked for")
	}
	if step == 0 {
		step = historyStep(to.Sub(from))
	}
	for i, x := range queue.HistoryLevels {
		if i == 0 || x.Step <= step || now.Sub(from) > queue.HistoryLevels[i-1].Kept {
			level = i
		}
	}
	base := queue.HistoryLevels[level].Step
	step = max(base, (step+base-1)/base*base)
	v = &historyView{From: from.UTC().Truncate(step), To: to.UTC(), Step: step}
	if n := to.Sub(v.From) / step; n > maxHistory {
		return 0, nil, queue.Invalidf("step",
			"%v makes %d steps of the time that is asked for; at most %d are answered: ask for longer steps",
			step, n, maxHistory)
	}
	return level, v, nil
}

// historyStep returns the finest round length that fills a time with at most a few hundred steps.
func historyStep(span time.Duration) time.Duration {
	const most = 400
	rounds := []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
		10 * time.Minute, 15 * time.Minute, 30 * time.Minute}
	for _, s := range rounds {
		if span <= most*s {
			return s
		}
	}
	hours := (span + most*time.Hour - 1) / (most * time.Hour)
	return hours * time.Hour
}

// addHeld adds the steps that are not written yet.
func (rc *Recorder) addHeld(ctx context.Context, keeper queue.HistoryKeeper, by map[string][]queue.HistoryStep,
	pools []string, v *historyView) error {
	rc.mu.Lock()
	others := !rc.writes && len(rc.steps) > 0
	rc.mu.Unlock()
	last := time.Time{}
	if others { // another server writes it
		var err error
		if last, err = lastWritten(ctx, keeper, time.Now()); err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	for _, s := range rc.steps {
		if s.at.Before(v.From) || !s.at.Before(v.To) || !s.at.After(last) {
			continue
		}
		for _, pool := range pools {
			if p := s.pools[pool]; p != nil {
				by[pool] = addStep(by[pool], *p, v.Step)
			}
		}
	}
	return nil
}

// knownPool refuses a pool that is neither in the tree nor in the history.
func (rc *Recorder) knownPool(pool string, past bool) error {
	return engine.Read(rc.loop, func(s *engine.State) error {
		if _, known := s.Core.Lookup(pool); !known && !past && pool != "" {
			return queue.Missingf("there is no pool %.256q; see fairlead shares", pool)
		}
		return nil
	})
}

// points returns the steps of a pool, including steps in which it had no work. In these the root has data, and the
// pool does not.
func points(root, pool []queue.HistoryStep) []HistoryPoint {
	out := make([]HistoryPoint, 0, len(root))
	for len(root) > 0 || len(pool) > 0 {
		switch {
		case len(pool) == 0 || len(root) > 0 && root[0].At.Before(pool[0].At):
			out = append(out, pointOf(queue.HistoryStep{At: root[0].At}, root[0].Seconds))
			root = root[1:]
		case len(root) == 0 || pool[0].At.Before(root[0].At):
			out = append(out, pointOf(pool[0], 0))
			pool = pool[1:]
		default:
			out = append(out, pointOf(pool[0], root[0].Seconds))
			root, pool = root[1:], pool[1:]
		}
	}
	return out
}

// HistoryPoint is a step for display: means over the known time. Steps without known values are left out.
type HistoryPoint struct {
	At      time.Time `json:"at"`      // when the step began
	Seconds float64   `json:"seconds"` // of the step with known values, when a server ran
	// Share and Used are fractions of the pool above. They are null if the pool had no running or waiting tasks.
	Share   *float64 `json:"share"`
	Used    *float64 `json:"used"`
	FairNow float64  `json:"fair_now"` // units of its entitlement
	Running float64  `json:"running"`  // units
	Demand  float64  `json:"demand"`   // units that ran or waited
	Waiting float64  `json:"waiting"`  // tasks
	// OldestWait is the longest wait of a job at any moment of the step.
	OldestWait float64 `json:"oldest_wait_seconds"`
}

// pointOf converts a step to a point. The argument "known" is the number of seconds of the step for which the root has
// data. If the pool has no data, it had no work.
func pointOf(s queue.HistoryStep, known float64) HistoryPoint {
	known = max(known, s.Seconds)
	p := HistoryPoint{
		At: s.At, Seconds: known, FairNow: s.FairNow / known, Running: s.Running / known, Demand: s.Demand / known,
		Waiting: s.Waiting / known, OldestWait: s.OldestWait,
	}
	if s.Seconds > 0 {
		share, used := s.Share/s.Seconds, s.Used/s.Seconds
		p.Share, p.Used = &share, &used
	}
	return p
}
