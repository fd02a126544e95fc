package fairlead

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
)

// The windows over which fairness is told. The hour moves on by five minutes, the day by
// an hour.
var fairnessSpans = []usage.Span{{Part: 5 * time.Minute, Parts: 12}, {Part: time.Hour, Parts: 24}}

// fairnessPart is the part of the time that measuring fairness may take: after a
// measurement none is made for so many times as long as it took. A few dozen pools are so
// measured at every event, and the account is exact; a hundred thousand every few seconds.
const fairnessPart = 100

// fairness is the loop's account of how fair it is.
type fairness struct {
	account *usage.Fairness
	number  []int // of each pool of the core in the account; -1: not in it
	numbers int
	known   map[string]int     // numbers by path, of the pools of a core before this one
	own     []usage.OwnCluster // by number
	slots   []float64          // by pool of the core: its share of the capacity
	rates   []usage.Rate
	next    time.Time // not measured before
}

// replace puts a new core in place of the old one. The account goes on: a pool is known
// again by its path.
func (l *Loop) replace(core *sched.Scheduler, cursor int64) {
	f := &l.fairness
	if l.core == nil {
		f.account, f.known = usage.NewFairness(time.Now(), fairnessSpans...), map[string]int{}
	}
	for i, n := range f.number {
		if n >= 0 {
			f.known[l.core.Path(sched.PoolID(i))] = n
		}
	}
	f.number, f.slots = nil, nil
	l.core, l.cursor, l.lengths = core, cursor, lengths{}
}

// unnumbered is the number of a pool that the account has not met.
const unnumbered = -2

// of returns the number of a pool in the account, which is given if need be. Bands are
// not in it.
func (f *fairness) of(core *sched.Scheduler, id sched.PoolID) int {
	for len(f.number) <= int(id) {
		f.number = append(f.number, unnumbered)
	}
	if f.number[id] == unnumbered {
		f.number[id] = -1
		if !core.Band(id) {
			f.number[id] = f.new(core, id)
		}
	}
	return f.number[id]
}

// new is the number of a pool that a core before this one had, or else a new one.
func (f *fairness) new(core *sched.Scheduler, id sched.PoolID) int {
	if len(f.known) > 0 {
		if n, ok := f.known[core.Path(id)]; ok {
			return n
		}
	}
	f.numbers++
	return f.numbers - 1
}

// measuredTurn is a turn, and a measurement of what is in force after it.
func (l *Loop) measuredTurn(ctx context.Context) (next time.Time, err error) {
	next, err = l.turn(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	f, now := &l.fairness, time.Now()
	if now.Before(f.next) {
		if next.IsZero() || f.next.Before(next) {
			next = f.next
		}
		return next, err
	}
	l.core.Advance(now)
	l.measure(now, l.core.Entitlements())
	f.next = now.Add((fairnessPart - 1) * time.Since(now))
	return next, err
}

// measure adds up what was in force until now and notes what is in force from now on.
func (l *Loop) measure(now time.Time, entitled []sched.Entitlement) {
	f := &l.fairness
	capacity, _ := l.core.Cluster().Capacity()
	f.slots = f.slots[:0]
	clear(f.rates)
	for i := range entitled {
		id := sched.PoolID(i)
		f.slots = append(f.slots, entitled[i].Share*float64(capacity[0]))
		n := f.of(l.core, id)
		if n < 0 {
			continue
		}
		for len(f.rates) <= n {
			f.rates = append(f.rates, usage.Rate{})
		}
		f.rates[n] = usage.Rate{Ideal: entitled[i].Now, Received: l.begunUnits(id)}
	}
	f.account.Set(now, f.rates, l.core.IdleWhileDemand())
}

// countOut counts a task out of the core, and compares its end with the one that it would
// have had on a cluster of its pool's own.
func (l *Loop) countOut(r *liveRun, ended, now time.Time, learn bool) {
	learn = learn && !r.queued
	if f := &l.fairness; learn {
		width := float64(max(1, r.header.Request[l.core.Cluster().Unit()]))
		for id := r.pool; id != sched.Root; id = l.core.Parent(id) {
			n := f.of(l.core, id)
			if n < 0 || int(id) >= len(f.slots) {
				continue
			}
			for len(f.own) <= n {
				f.own = append(f.own, usage.OwnCluster{})
			}
			f.own[n].End(f.slots[id], width, r.came, r.started, ended)
		}
	}
	if learn {
		l.lengths.note(r.pool, ended.Sub(r.started))
	}
	l.past.note(r, max(1, r.header.Request[l.core.Cluster().Unit()]), ended)
	l.limits.note(r, ended)
	l.core.FinishAt(r.run, ended, now, learn)
}

// cameAt is since when a task has waited for room. Where it waited for something else,
// its own cluster would not have had it earlier: a second attempt, a job that waits for
// others, and one that limits its own tasks came when they started.
func cameAt(lease *Lease) time.Time {
	j := lease.Job
	if lease.Attempt > 1 || len(j.After) > 0 || j.Most > 0 {
		return lease.Started
	}
	if j.Begin.After(j.Submitted) {
		return j.Begin
	}
	return j.Submitted
}

// PoolFairness is how a pool fares against the ideal fluid scheduler.
type PoolFairness struct {
	Lag     float64      `json:"lag_slot_seconds"`         // owed (above 0) or ahead, since the account began
	Largest float64      `json:"lag_largest_slot_seconds"` // of any sign, since the account began
	Hour    FairnessSpan `json:"hour"`
	Day     FairnessSpan `json:"day"`
	// How late its tasks were against a cluster of its own, as large as its share.
	LateTasks   int64   `json:"late_tasks"` // all that were compared
	LateSeconds float64 `json:"late_seconds"`
	LateLargest float64 `json:"late_largest_seconds"`
}

// FairnessSpan is a stretch of the recent past.
type FairnessSpan struct {
	Ideal    float64 `json:"ideal_slot_seconds"`
	Received float64 `json:"received_slot_seconds"`
	// Jain is the index of what the pools right below it received over what was due to
	// them; 1 for a pool without such.
	Jain float64 `json:"jain"`
}

// Lag is what is owed.
func (s FairnessSpan) Lag() float64 { return s.Ideal - s.Received }

// FairnessView is how fair the whole is.
type FairnessView struct {
	Since    time.Time     `json:"since"` // the account began, when the server started
	Hour     FairnessWhole `json:"hour"`
	Day      FairnessWhole `json:"day"`
	Borrowed []Borrowed    `json:"borrowed"` // now
	// Idle is slot-seconds since the account began in which units were idle although a
	// task would have fitted.
	Idle float64 `json:"idle_while_demand_slot_seconds"`
}

// FairnessWhole sums up a stretch of the recent past.
type FairnessWhole struct {
	Seconds float64 `json:"seconds"` // that it covers
	Jain    float64 `json:"jain"`    // of the pools at the top
	Leaves  float64 `json:"jain_leaves"`
	Idle    float64 `json:"idle_while_demand_slot_seconds"`
	// Worst is the pool at the top that lacks most: its part of all that was received, less
	// its part of all that was due. It is empty if none lacks anything.
	Worst       string  `json:"worst,omitempty"`
	WorstPoints float64 `json:"worst_points"` // percentage points, at most 0
	WorstLag    float64 `json:"worst_lag_slot_seconds"`
}

// Borrowed is what a pool runs at this instant of the share of another that has nothing
// to run on it.
type Borrowed struct {
	Pool  string  `json:"pool"`
	From  string  `json:"from"`
	Units float64 `json:"units"`
}

// Fairness returns how fair the loop is, and the pools as [Loop.Pools] does.
func (l *Loop) Fairness(ctx context.Context) (FairnessView, []PoolView) {
	if err := l.sync(ctx); err != nil {
		l.log.Warn("the pools are of an older state", "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.core.Advance(now)
	entitled := l.core.Entitlements()
	l.measure(now, entitled)
	p := picture{l: l, entitled: entitled, oldest: l.core.OldestWaiting(), now: now, borrowed: []Borrowed{}}
	p.list(sched.Root, 0)
	a := l.fairness.account
	v := FairnessView{Since: a.From(), Idle: a.IdleTotal(), Borrowed: p.borrowed}
	for k, w := range []*FairnessWhole{&v.Hour, &v.Day} {
		*w = FairnessWhole{Seconds: a.Covered(k).Seconds(), Idle: a.Idle(k)}
		var leaves []usage.Sums
		for _, n := range p.leaves {
			leaves = append(leaves, a.Window(k, n))
		}
		w.Leaves = jain(leaves)
		w.worst(p.out, func(p *PoolView) FairnessSpan { return []FairnessSpan{p.Fairness.Hour, p.Fairness.Day}[k] })
	}
	v.Hour.Jain, v.Day.Jain = p.out[0].Fairness.Hour.Jain, p.out[0].Fairness.Day.Jain
	return v, p.out
}

// worst finds the pool at the top that lacks most.
func (w *FairnessWhole) worst(pools []PoolView, span func(*PoolView) FairnessSpan) {
	var due, had float64
	for i := range pools {
		if s := span(&pools[i]); pools[i].Depth == 1 {
			due, had = due+s.Ideal, had+s.Received
		}
	}
	for i := range pools {
		s := span(&pools[i])
		if pools[i].Depth != 1 || had <= 0 {
			continue
		}
		if points := 100 * (s.Received/had - s.Ideal/due); points < w.WorstPoints-1e-6 {
			w.Worst, w.WorstPoints, w.WorstLag = pools[i].Path, points, s.Lag()
		}
	}
}

// jain is Jain's index of what was received over what was due.
func jain(all []usage.Sums) float64 {
	received, due := make([]float64, len(all)), make([]float64, len(all))
	for i, s := range all {
		received[i], due[i] = s.Received, s.Ideal
	}
	return usage.Jain(received, due)
}

// fair fills in how a pool fares.
func (p *picture) fair(v *PoolView, id sched.PoolID, kids []sched.PoolID) {
	f := &p.l.fairness
	n := f.of(p.l.core, id)
	total := f.account.Total(n)
	v.Fairness = PoolFairness{Lag: total.Lag(), Largest: total.Largest}
	for k, s := range []*FairnessSpan{&v.Fairness.Hour, &v.Fairness.Day} {
		sums := f.account.Window(k, n)
		var below []usage.Sums
		for _, kid := range kids {
			below = append(below, f.account.Window(k, f.of(p.l.core, kid)))
		}
		*s = FairnessSpan{Ideal: sums.Ideal, Received: sums.Received, Jain: jain(below)}
	}
	if n < len(f.own) {
		o := f.own[n]
		v.Fairness.LateTasks, v.Fairness.LateSeconds, v.Fairness.LateLargest = o.Tasks, o.Seconds, o.Largest
	}
	if len(kids) == 0 {
		p.leaves = append(p.leaves, n)
	}
}

// lend notes who of the children borrows from whom: of what the pool has they are due
// their shares. The root has the capacity.
func (p *picture) lend(id sched.PoolID, kids []sched.PoolID) {
	has := p.l.begunUnits(id)
	if id == sched.Root {
		capacity, _ := p.l.core.Cluster().Capacity()
		has = float64(capacity[0])
	}
	all := make([]usage.Standing, len(kids))
	for i, kid := range kids {
		all[i] = usage.Standing{Due: p.entitled[kid].Here * has, Running: p.l.begunUnits(kid), Want: p.entitled[kid].Demand}
	}
	loans := usage.Loans(all)
	for _, x := range loans[:min(len(loans), borrowedKept)] {
		p.borrowed = append(p.borrowed, Borrowed{p.l.core.Path(kids[x.To]), p.l.core.Path(kids[x.From]), x.Slots})
	}
}

// borrowedKept bounds what is told of the loans within one pool: the largest.
const borrowedKept = 50
