package views

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// Pools returns the pools that the configuration names or that have work or usage,
// parents before their children.
func Pools(ctx context.Context, l *engine.Loop) []PoolView {
	_, pools := Fairness(ctx, l)
	return pools
}

// picture holds the data for the views of all pools at one instant.
type picture struct {
	s        *engine.State
	entitled []sched.Entitlement
	oldest   []int64 // waiting job, by pool
	now      time.Time

	compared map[sched.PoolID]*Compared
	out      []PoolView
	leaves   []int // in the account of fairness
	borrowed []Borrowed
}

func (p *picture) list(id sched.PoolID, depth int) {
	s := p.s
	core := s.Core
	x, now := core.View(id), core.Read().Now()
	service := x.Service(now) / now.Growth
	idle := x.Waiting == 0 && x.Tasks == 0 && service < 1e-3 && len(core.Read().BoostsOf(id)) == 0 && !ownPause(s, id)
	if id != sched.Root && !core.Read().Configured(id) && idle {
		return
	}
	e := &p.entitled[id]
	v := PoolView{
		Path: core.Path(id), Depth: depth, Policy: core.Read().PolicyName(id), Weight: x.Weight,
		Share: e.Share, ShareHere: e.Here, FairNow: e.Now, Want: e.Demand,
		Running: engine.BegunUnits(s.Core, id), Tasks: engine.BegunTasks(s.Core, id), Waiting: engine.WaitingTasks(s.Core,
			id),
		Used: service, Mean: x.Mean, Configured: core.Read().Configured(id),
		OldestWait: s.Arrivals.Since(p.oldest[id], p.now),
	}
	if above := core.View(core.Read().Parent(id)).Service(now) / now.Growth; above > 0 {
		v.UsedHere = service / above
	}
	v.Queued, _ = core.Read().Queued(id)
	if lim, ok := core.Read().Limits(id); ok {
		v.Min, v.Max, v.MaxRunning = queue.Amounts(lim.Min), queue.Amounts(lim.Max), lim.Tasks
	}
	kids := slices.DeleteFunc(core.Read().Children(id), core.Read().PriorityClass)
	p.fair(&v, id, kids)
	v.BaseWeight, v.Boosts, v.Paused = core.Read().BaseWeight(id), boostsOf(s, id), pauseOf(s, id)
	v.Compared = p.compared[id]
	p.out = append(p.out, v)
	p.lend(id, kids)
	p.compare(id)
	for _, kid := range kids {
		p.list(kid, depth+1)
	}
}

// compare records the keys of a pool's children.
func (p *picture) compare(id sched.PoolID) {
	growth := p.s.Core.Read().Now().Growth
	p.s.Core.Explain().Standings(id, func(child sched.PoolID, t why.Terms, belowMin bool) {
		f := t.Formula
		if f == nil {
			return
		}
		text, key := f.Call(&t, growth)
		if belowMin {
			text = "below its minimum, " + text
		}
		p.compared[child] = &Compared{Policy: f.Policy, Formula: f.Text, Order: f.Order, Key: why.Number(key), Text: text,
			BelowMin: belowMin}
	})
}

// boostsOf returns the boosts of a pool, including starters.
func boostsOf(s *engine.State, id sched.PoolID) []engine.Boost {
	var out []engine.Boost
	for _, b := range s.Core.Read().BoostsOf(id) {
		out = append(out, s.InForce.BoostOf(b))
	}
	return out
}

// pauseOf returns the pause of a pool, its own or that of a pool above; nil if there is none.
func pauseOf(s *engine.State, id sched.PoolID) *engine.Pause {
	x, paused := s.Core.Read().PauseOf(id)
	if !paused {
		return nil
	}
	p := s.InForce.Pauses[x.Pool]
	return &p
}

// ownPause reports whether a pool itself is paused.
func ownPause(s *engine.State, id sched.PoolID) bool {
	p, paused := s.Core.Read().PauseOf(id)
	return paused && p.Pool == s.Core.Path(id)
}

// Fairness returns the fairness of the engine, and the pools as [Pools] does.
func Fairness(ctx context.Context, l *engine.Loop) (FairnessView, []PoolView) {
	if err := l.Refresh(ctx); err != nil {
		l.Log.Warn("the pools are of an older state", "error", err)
	}
	return engine.Read2(l, func(s *engine.State) (FairnessView, []PoolView) {
		now := time.Now()
		s.Core.Advance(now)
		entitled := s.Core.Read().Entitlements()
		s.Fairness.Measure(s.Core, now, entitled)
		p := picture{s: s, entitled: entitled, oldest: s.Core.Read().OldestWaiting(), now: now, borrowed: []Borrowed{},
			compared: map[sched.PoolID]*Compared{}}
		p.list(sched.Root, 0)
		a := s.Fairness.Account
		v := FairnessView{Since: a.From(), Idle: a.IdleTotal(), Borrowed: p.borrowed}
		for k, w := range []*FairnessWhole{&v.Hour, &v.Day} {
			*w = FairnessWhole{Seconds: a.Covered(k).Seconds(), Idle: a.Idle(k)}
			var leaves []usage.Sums
			for _, n := range p.leaves {
				leaves = append(leaves, a.Window(k, n))
			}
			w.Leaves = jain(leaves)
			w.sumUp(p.out, func(p *PoolView) FairnessSpan { return []FairnessSpan{p.Fairness.Hour, p.Fairness.Day}[k] })
		}
		v.Hour.Jain, v.Day.Jain = p.out[0].Fairness.Hour.Jain, p.out[0].Fairness.Day.Jain
		return v, p.out
	})
}

// sumUp computes the mean and the worst ratio of received to ideal service of the pools right below the root.
func (w *FairnessWhole) sumUp(pools []PoolView, span func(*PoolView) FairnessSpan) {
	sum, n := 0.0, 0.0
	w.WorstServed = 1
	for i := range pools {
		s := span(&pools[i])
		if pools[i].Depth != 1 || s.Ideal <= 0 {
			continue
		}
		sum, n = sum+s.Served, n+1
		if s.Served < w.WorstServed-1e-6 {
			w.Worst, w.WorstServed = pools[i].Path, s.Served
		}
	}
	if w.Served = 1; n > 0 {
		w.Served = sum / n
	}
}

// served returns received over ideal service, at most 1.
func served(s usage.Sums) float64 {
	if s.Ideal <= 0 {
		return 1
	}
	return min(1, s.Received/s.Ideal)
}

// jain returns Jain's index of received over ideal service.
func jain(all []usage.Sums) float64 {
	received, due := make([]float64, len(all)), make([]float64, len(all))
	for i, s := range all {
		received[i], due[i] = s.Received, s.Ideal
	}
	return usage.Jain(received, due)
}

// fair fills in the fairness of a pool.
func (p *picture) fair(v *PoolView, id sched.PoolID, kids []sched.PoolID) {
	f := &p.s.Fairness
	n := f.Of(p.s.Core, id)
	total := f.Account.Total(n)
	v.Fairness = PoolFairness{Lag: total.Lag(), Largest: total.Largest}
	for k, s := range []*FairnessSpan{&v.Fairness.Hour, &v.Fairness.Day} {
		sums := f.Account.Window(k, n)
		var below []usage.Sums
		for _, kid := range kids {
			below = append(below, f.Account.Window(k, f.Of(p.s.Core, kid)))
		}
		*s = FairnessSpan{Ideal: sums.Ideal, Received: sums.Received, Served: served(sums), Jain: jain(below)}
	}
	if n < len(f.Own) {
		o := f.Own[n]
		v.Fairness.LateTasks, v.Fairness.LateSeconds, v.Fairness.LateLargest = o.Tasks, o.Seconds, o.Largest
	}
	if len(kids) == 0 {
		p.leaves = append(p.leaves, n)
	}
}

// lend records which children borrow from which other children. Each child is entitled to its share of the units that
// the pool has. The root has the whole capacity.
func (p *picture) lend(id sched.PoolID, kids []sched.PoolID) {
	has := engine.BegunUnits(p.s.Core, id)
	if id == sched.Root {
		capacity, _, _ := p.s.Core.Read().Capacity()
		has = float64(capacity[0])
	}
	all := make([]usage.Standing, len(kids))
	for i, kid := range kids {
		all[i] = usage.Standing{Due: p.entitled[kid].Here * has, Running: engine.BegunUnits(p.s.Core, kid),
			Want: p.entitled[kid].Demand}
	}
	loans := usage.Loans(all)
	for _, x := range loans[:min(len(loans), borrowedKept)] {
		p.borrowed = append(p.borrowed, Borrowed{p.s.Core.Path(kids[x.To]), p.s.Core.Path(kids[x.From]), x.Slots})
	}
}

// borrowedKept is the maximum number of loans that are listed within one pool: the largest.
const borrowedKept = 50
