package fairlead

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// HistoryView is how pools fared, in steps of one length.
type HistoryView struct {
	From, To time.Time
	Step     time.Duration
	Pools    [][]HistoryPoint // in the order in which they were asked for
}

// MaxHistory bounds the steps of a [HistoryView].
const MaxHistory = 20_000

// PoolHistory returns how pools fared from one instant to another. Step is how long the steps
// are to be, which are made longer if nothing so fine is kept of that time; 0 is the finest
// of which there are at most a few hundred. A step of which nothing is known is left out: no
// server was there.
func (l *Loop) PoolHistory(ctx context.Context, pools []string, from, to time.Time, step time.Duration) (*HistoryView, error) {
	by, v, err := l.stepsOf(ctx, pools, from, to, step)
	if err != nil {
		return nil, err
	}
	for _, pool := range pools {
		if err := l.knownPool(pool, len(by[pool]) > 0); err != nil {
			return nil, err
		}
		v.Pools = append(v.Pools, points(by[""], by[pool]))
	}
	return v, nil
}

// stepsOf are the steps of pools, and of the root, as they are kept; the view has no pools yet.
func (l *Loop) stepsOf(ctx context.Context, pools []string, from, to time.Time, step time.Duration) (map[string][]HistoryStep, *HistoryView, error) {
	keeper, ok := l.store.(HistoryKeeper)
	if !ok {
		return nil, nil, fmt.Errorf("the store keeps no history: %w", ErrInvalid)
	}
	level, v, err := historyRange(from, to, step, time.Now())
	if err != nil {
		return nil, nil, err
	}
	asked := append([]string{""}, pools...)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	kept, err := keeper.PoolHistory(ctx, HistoryQuery{Pools: asked, Level: level, From: v.From, To: v.To})
	if err != nil {
		return nil, nil, fmt.Errorf("read the history: %w", err)
	}
	by := map[string][]HistoryStep{}
	for _, p := range kept {
		for _, s := range p.Steps {
			by[p.Pool] = addStep(by[p.Pool], s, v.Step)
		}
	}
	return by, v, l.addHeld(ctx, keeper, by, asked, v)
}

// historyRange decides about the level that is read, the length of the steps, and their ends.
func historyRange(from, to time.Time, step time.Duration, now time.Time) (level int, v *HistoryView, err error) {
	if !from.Before(to) {
		return 0, nil, invalid("since", "must be before the end of the time that is asked for")
	}
	if step == 0 {
		step = historyStep(to.Sub(from))
	}
	for i, x := range HistoryLevels {
		if i == 0 || x.Step <= step || now.Sub(from) > HistoryLevels[i-1].Kept {
			level = i
		}
	}
	base := HistoryLevels[level].Step
	step = max(base, (step+base-1)/base*base)
	v = &HistoryView{From: from.UTC().Truncate(step), To: to.UTC(), Step: step}
	if n := to.Sub(v.From) / step; n > MaxHistory {
		return 0, nil, invalid("step", "%v makes %d steps of the time that is asked for; at most %d are answered: ask for longer steps", step, n, MaxHistory)
	}
	return level, v, nil
}

// historyStep is the finest round length of which at most a few hundred fill a time.
func historyStep(span time.Duration) time.Duration {
	const most = 400
	rounds := []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute}
	for _, s := range rounds {
		if span <= most*s {
			return s
		}
	}
	hours := (span + most*time.Hour - 1) / (most * time.Hour)
	return hours * time.Hour
}

// addHeld adds what is not written yet.
func (l *Loop) addHeld(ctx context.Context, keeper HistoryKeeper, by map[string][]HistoryStep, pools []string, v *HistoryView) error {
	h := &l.historian
	h.mu.Lock()
	others := !h.writes && len(h.steps) > 0
	h.mu.Unlock()
	last := time.Time{}
	if others { // write it
		var err error
		if last, err = lastWritten(ctx, keeper, time.Now()); err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.steps {
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

// knownPool refuses a pool of which neither the tree nor the history knows.
func (l *Loop) knownPool(pool string, past bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.core.Lookup(pool); !known && !past && pool != "" {
		return missing("no pool is called %.256q; see fairlead shares", pool)
	}
	return nil
}

// points are the steps of a pool, with those in which it had nothing: in which the root is
// known and the pool is not.
func points(root, pool []HistoryStep) []HistoryPoint {
	out := make([]HistoryPoint, 0, len(root))
	for len(root) > 0 || len(pool) > 0 {
		switch {
		case len(pool) == 0 || len(root) > 0 && root[0].At.Before(pool[0].At):
			out = append(out, HistoryStep{At: root[0].At}.point(root[0].Seconds))
			root = root[1:]
		case len(root) == 0 || pool[0].At.Before(root[0].At):
			out = append(out, pool[0].point(0))
			pool = pool[1:]
		default:
			out = append(out, pool[0].point(root[0].Seconds))
			root, pool = root[1:], pool[1:]
		}
	}
	return out
}
