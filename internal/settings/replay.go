package settings

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/sim/history"
	"github.com/fairlead/fairlead/queue"
)

// remembering is a loop that knows its history.
type remembering interface {
	Client() *engine.Client
	Capacity() (capacity, free queue.Amounts, unit string)
}

// replay replays the history under two configurations. The caller holds no lock, because this may take
// seconds.
func replay(ctx context.Context, l Loop, old, next *config.Config, seconds float64) (*api.PlanReplay, error) {
	r, ok := l.(remembering)
	if !ok {
		return nil, nil
	}
	capacity, _, unit := r.Capacity()
	now := time.Now()
	w := history.Window{From: now.Add(-time.Duration(seconds * float64(time.Second))), To: now, Unit: unit,
		Units: capacity[unit]}
	past, err := history.Read(ctx, r.Client(), w)
	if err != nil || len(past.Jobs) == 0 || w.Units < 1 {
		return nil, err
	}
	before, err := past.Replay(ctx, &old.Shares)
	if err != nil {
		return nil, fmt.Errorf("replay the past under the current configuration: %w", err)
	}
	after, err := past.Replay(ctx, &next.Shares)
	if err != nil {
		return nil, fmt.Errorf("replay the past under the new configuration: %w", err)
	}
	out := &api.PlanReplay{
		Seconds: past.Window.To.Sub(past.Window.From).Seconds(), Tasks: len(past.Jobs), Units: past.Procs,
		Unit: unit, Guessed: past.Guessed, LeftOut: past.TooWide + past.Unknown, Cut: past.Cut,
		NeverBefore: before.Never, NeverAfter: after.Never,
		UtilisationBefore: before.Utilisation, UtilisationAfter: after.Utilisation, JainBefore: before.Jain, JainAfter: after.Jain,
	}
	names := slices.Concat(slices.Collect(maps.Keys(before.Pools)), slices.Collect(maps.Keys(after.Pools)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		b, a := before.Pools[name], after.Pools[name]
		out.Pools = append(out.Pools, api.PoolReplay{
			Path: name, Tasks: max(b.Tasks, a.Tasks), MedianWaitBefore: b.MedianWait, MedianWaitAfter: a.MedianWait,
			P95WaitBefore: b.P95Wait, P95WaitAfter: a.P95Wait, UsedBefore: b.Used, UsedAfter: a.Used,
		})
	}
	return out, nil
}
