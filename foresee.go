package fairlead

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// Foresight is what other shares would change at once, before anything ends or is
// submitted. It comes from the scheduler itself: a copy of it, with the same jobs, tasks and
// usage, under the other shares.
type Foresight struct {
	At time.Time
	// Pools are those that either shares name or that have work or usage, parents before
	// their children. The root is the first.
	Pools []PoolForesight
	// Before and After are the pools whose tasks start next, if room came slot by slot:
	// the first orderPools of them, in the order of their first starts.
	Before, After []string
	// Unranked is set where the order of jobs will only be known when the shares are in
	// force: what counts of a job for its priority is told to the scheduler then.
	Unranked bool
}

// PoolForesight is a pool before and after.
type PoolForesight struct {
	Path          string
	Depth         int // 0 is the root
	Before, After PoolStanding
	Starts, Stops int // tasks that would start or be stopped by the next step
}

// PoolStanding is what shares mean for a pool at an instant.
type PoolStanding struct {
	Named   bool    // by the shares
	Weight  float64 // boosts included
	Share   float64 // of the whole
	FairNow float64 // units, given the demand at this instant
	Running float64 // units
}

// orderPools is how many pools of an order are named.
const orderPools = 8

// Foresee says what shares would change if they were in force now. Nothing is changed. The
// error is the one that [Loop.Configure] would return.
func (l *Loop) Foresee(ctx context.Context, s Shares) (*Foresight, error) {
	if err := l.sync(ctx); err != nil {
		return nil, err
	}
	as, rules, now := l.standing()
	then := as.Fork()
	if err := then.Configure(s.Sched, now); err != nil {
		return nil, err
	}
	f := &Foresight{At: now}
	f.Unranked = then.Ranks() && (!as.Ranks() || !reflect.DeepEqual(rules.SiteRules, s.SiteRules) || !reflect.DeepEqual(rules.Sched.Multifactor, s.Sched.Multifactor))
	v := foreseen{now: as, then: then, before: as.Entitlements(), after: then.Entitlements()}
	v.list(f, sched.Root, 0)
	f.Before, f.After = nextPools(as.AsOutlook()), nextPools(then.Outlook())
	starts, stops := nextStep(then)
	for i, id := range v.listed {
		f.Pools[i].Starts, f.Pools[i].Stops = starts[id], stops[id]
	}
	return f, nil
}

// standing is a copy of the scheduler as it stands, and the shares in force. What is done with the
// copy takes long where there are many pools, and the loop goes on meanwhile.
func (l *Loop) standing() (as *sched.Scheduler, in Shares, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now = time.Now()
	l.core.Advance(now)
	return l.core.Fork(), l.shares, now
}

// nextPools are the pools of the next starts.
func nextPools(outlook *sched.Outlook) []string {
	var order []string
	n := 0
	outlook.Preview(func(s sched.Start, _ float64) bool {
		n++
		if path := outlook.Path(s.Pool); !slices.Contains(order, path) {
			order = append(order, path)
		}
		return n < orderTasks && len(order) < orderPools
	})
	return order
}

// nextStep steps, and counts by pool what that starts and stops.
func nextStep(core *sched.Scheduler) (starts, stops map[sched.PoolID]int) {
	starts, stops = map[sched.PoolID]int{}, map[sched.PoolID]int{}
	for d := (sched.Decision{More: true}); d.More; {
		core.Step(core.Instant(), 0, &d)
		for _, s := range d.Starts {
			count(starts, core, s.Pool)
		}
		for _, s := range d.Stops {
			count(stops, core, s.Pool)
		}
	}
	return starts, stops
}

// count counts a task in its pool and those above.
func count(by map[sched.PoolID]int, core *sched.Scheduler, id sched.PoolID) {
	for ; id != sched.Root; id = core.Parent(id) {
		by[id]++
	}
	by[sched.Root]++
}

// foreseen is the scheduler as it is, and a copy under other shares.
type foreseen struct {
	now, then     *sched.Scheduler
	before, after []sched.Entitlement
	listed        []sched.PoolID
}

// list lists a pool and those below it. The copy has all pools of the original, under the
// same numbers, and perhaps more.
func (v *foreseen) list(f *Foresight, id sched.PoolID, depth int) {
	x := PoolForesight{Path: v.then.Path(id), Depth: depth}
	x.After = standingOf(v.then, id, v.after)
	if int(id) < len(v.before) {
		x.Before = standingOf(v.now, id, v.before)
	}
	if p := v.then.View(id); id != sched.Root && !x.Before.Named && !x.After.Named && p.Waiting == 0 && p.Tasks == 0 {
		return
	}
	f.Pools, v.listed = append(f.Pools, x), append(v.listed, id)
	for _, kid := range v.then.Children(id) {
		if !v.then.Band(kid) {
			v.list(f, kid, depth+1)
		}
	}
}

func standingOf(core *sched.Scheduler, id sched.PoolID, entitled []sched.Entitlement) PoolStanding {
	p := core.View(id)
	return PoolStanding{Named: core.Configured(id), Weight: p.Weight, Share: entitled[id].Share, FairNow: entitled[id].Now, Running: p.Running}
}
