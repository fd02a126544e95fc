package forecast

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/sched"
)

// Forecast holds the changes that other shares would cause at once, before any task ends or any job is submitted. It
// comes from a copy of the scheduler with the same jobs, tasks and usage, under the other shares.
type Forecast struct {
	At time.Time
	// Pools are the pools that either shares name or that have work or usage, parents before their children. The root
	// is the first.
	Pools []PoolForecast
	// Before and After are the pools whose tasks start next, if room became free slot by slot: the first orderPools of
	// them, in the order of their first starts.
	Before, After []string
	// Unranked is set if the order of jobs will only be known when the shares are current, because the scheduler gets
	// the jobs' priority factors only then.
	Unranked bool
}

// PoolForecast is the state of a pool before and after the change.
type PoolForecast struct {
	Path          string
	Depth         int // 0 is the root
	Before, After poolStanding
	Starts, Stops int // tasks that would start or be stopped by the next step
}

// poolStanding is the effect of shares on a pool at an instant.
type poolStanding struct {
	Named   bool    // the shares name the pool
	Weight  float64 // boosts included
	Share   float64 // of the cluster
	FairNow float64 // units, given the demand at this instant
	Running float64 // units
}

// orderPools is the number of pools in Before and After.
const orderPools = 8

// Forecast predicts what shares would change if they were applied now. It changes nothing. Its error is the one that
// [engine.Loop.Configure] would return.
func (fc *Forecaster) Forecast(ctx context.Context, s allocation.Config) (*Forecast, error) {
	if err := fc.loop.Sync(ctx); err != nil {
		return nil, err
	}
	b := fc.borrow()
	defer b.drop()
	as, rules, now := fc.standing(b.room())
	if err := fc.loop.CheckUnit(s); err != nil {
		return nil, err
	}
	then := as.ForkIn(b.room())
	if err := then.Configure(s.Sched, now); err != nil {
		return nil, err
	}
	f := &Forecast{At: now}
	f.Unranked = then.Read().Ranks() && (!as.Read().Ranks() || !reflect.DeepEqual(rules.SiteRules, s.SiteRules) ||
		!reflect.DeepEqual(rules.Sched.Multifactor, s.Sched.Multifactor))
	v := comparison{now: as, then: then, before: as.Read().Entitlements(), after: then.Read().Entitlements()}
	v.list(f, sched.Root, 0)
	f.Before, f.After = nextPools(as.AsOutlook()), nextPools(then.ForkIn(b.room()).AsOutlook())
	starts, stops := nextStep(then)
	for i, id := range v.listed {
		f.Pools[i].Starts, f.Pools[i].Stops = starts[id], stops[id]
	}
	return f, nil
}

// standing returns a copy of the present scheduler, and the current shares. If there are many pools, work on the copy
// takes long, and the engine continues meanwhile.
func (fc *Forecaster) standing(room *sched.Room) (as *sched.Scheduler, in allocation.Config, now time.Time) {
	return engine.Read3(fc.loop, func(s *engine.State) (as *sched.Scheduler, in allocation.Config, now time.Time) {
		now = time.Now()
		s.Core.Advance(now)
		return s.Core.ForkIn(room), s.Shares, now
	})
}

// nextPools returns the pools of the next starts.
func nextPools(outlook *sched.Outlook) []string {
	var order []string
	n := 0
	outlook.Preview(func(s sched.Start, _ float64) bool {
		n++
		if path := outlook.Path(s.Pool); !slices.Contains(order, path) {
			order = append(order, path)
		}
		return n < explain.OrderTasks && len(order) < orderPools
	})
	return order
}

// nextStep takes a step, and counts its starts and stops by pool.
func nextStep(core *sched.Scheduler) (starts, stops map[sched.PoolID]int) {
	starts, stops = map[sched.PoolID]int{}, map[sched.PoolID]int{}
	for d := (sched.Decision{More: true}); d.More; {
		core.Step(core.Read().Instant(), 0, &d)
		for _, s := range d.Starts {
			count(starts, core, s.Pool)
		}
		for _, s := range d.Stops {
			count(stops, core, s.Pool)
		}
	}
	return starts, stops
}

// count counts a task in its pool and the pools above it.
func count(by map[sched.PoolID]int, core *sched.Scheduler, id sched.PoolID) {
	for ; id != sched.Root; id = core.Read().Parent(id) {
		by[id]++
	}
	by[sched.Root]++
}

// comparison holds the present scheduler, and a copy under other shares.
type comparison struct {
	now, then     *sched.Scheduler
	before, after []sched.Entitlement
	listed        []sched.PoolID
}

// list lists a pool and the pools below it. The copy has all pools of the original, under the same numbers, and perhaps
// more.
func (v *comparison) list(f *Forecast, id sched.PoolID, depth int) {
	x := PoolForecast{Path: v.then.Path(id), Depth: depth}
	x.After = standingOf(v.then, id, v.after)
	if int(id) < len(v.before) {
		x.Before = standingOf(v.now, id, v.before)
	}
	if p := v.then.View(id); id != sched.Root && !x.Before.Named && !x.After.Named && p.Waiting == 0 && p.Tasks == 0 {
		return
	}
	f.Pools, v.listed = append(f.Pools, x), append(v.listed, id)
	for _, kid := range v.then.Read().Children(id) {
		if !v.then.Read().PriorityClass(kid) {
			v.list(f, kid, depth+1)
		}
	}
}

func standingOf(core *sched.Scheduler, id sched.PoolID, entitled []sched.Entitlement) poolStanding {
	p := core.View(id)
	return poolStanding{Named: core.Read().Configured(id), Weight: p.Weight, Share: entitled[id].Share,
		FairNow: entitled[id].Now, Running: p.Running}
}
