package policy

import (
	"math"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// decayPolicy serves the child first whose share exceeds its recent usage by the most (the formula P = S - U of cluster
// schedulers):
//
//	priority = share - used        largest first
//
// share is the child's fraction of its siblings' weights. At the root, "used" is the child's service as a fraction of
// all service that the cluster could have given. Below the root, it is the child's service as a fraction of the service
// of the pool above. If it were a fraction of the cluster there too, the usage of a small pool's children would be
// negligible beside their shares. Then the child with the largest share would receive everything. Service counts by
// days: used(today) + f used(yesterday) + f^2 used(the day before) + ..., over 7 days with f = 0.7; running tasks count
// with their service so far. Both numbers are settings. With half_life, service decays continuously instead of by days.
// At the root, "used" is then the decayed service as a fraction of all that the cluster could have given, decayed in
// the same way; below the root it is a fraction of the decayed service of the pool above.
//
// The published description of this policy (docs/explanation/decay.md) multiplies the usage by the share in its
// formula, but not in its example. Both are available: scale_by_share is the formula, and the default is the example.
// Of equal priorities the larger share goes first, as in that description, then the older pool.
//
// Example: shares jack 25%, jill 75%, four slots, jobs of six hours on all four. Jill has the priority 0.75, then 0.5,
// then 0.25. That ties with jack's 0.25, so the larger share goes first. Then 0 is less than 0.25: jack goes first.
type decayPolicy struct {
	days    int // 0: by the half-life
	factor  float64
	scaled  bool
	formula *why.Formula
}

var (
	shareTerm = why.Term{Name: "share", Doc: "its weight among its siblings'"}
	usedTerm  = why.Term{Name: "used", Doc: "what it received lately, as a part of what the cluster could give; past use counts less"}

	decayed = why.NewFormula("decay", "share - used", why.LargestFirst, shareTerm, usedTerm).
		Phrased("{100 * (share - used)|is # percentage points below its share|is # percentage points above its share}",
			"share less use {key}")
	decayedScaled = why.NewFormula("decay", "share - share * used", why.LargestFirst, shareTerm, usedTerm).
			Phrased("", "share less use {key}")
)

func newDecay(o share.Decay) decayPolicy {
	d := decayPolicy{days: 7, factor: 0.7, scaled: o.ScaleByShare, formula: decayed}
	if o.ScaleByShare {
		d.formula = decayedScaled
	}
	if o.Days > 0 {
		d.days = o.Days
	}
	if o.Factor > 0 {
		d.factor = o.Factor
	}
	if o.HalfLife {
		d.days = 0
	}
	return d
}

// Formula implements sched.Policy.
func (d decayPolicy) Formula() *why.Formula { return d.formula }

// Terms implements sched.Keyed.
func (d decayPolicy) Terms(p *sched.Pool, at sched.Setting) why.Terms {
	t := why.Terms{Formula: d.formula, Tie: -p.Weight}
	s := at.Share(p.Weight)
	amount, whole := d.received(p, &at)
	u := 0.0
	if amount > 0 {
		u = amount / math.Max(whole, 1)
	}
	t.Values[0], t.Values[1] = s, u
	if d.scaled {
		u = float64(s * u)
	}
	t.Key = 0 - float64(s-u)
	t.Fixed = amount
	if d.days == 0 {
		t.Fixed = p.Service(at.Now)
	}
	return t
}

// Outlasts reports whether the child stays ahead of the other child, whatever service the other received: see
// sched.GateView.Starves. It reports this only after a wait in which the child's own usage should have changed the
// order: a day or, with half_life, the time for which usage counts. By then the child's past usage is about as large
// as it gets if nothing changes.
func (d decayPolicy) Outlasts(child, other *sched.Pool, waited time.Duration, at sched.Setting) bool {
	whole := at.MeanLife
	switch {
	case d.days > 0:
		whole = usage.Day
	case whole == 0:
		whole = at.Seconds / 2
	}
	return waited.Seconds() >= whole && d.Terms(child, at).Key < -at.Share(other.Weight)
}

// received returns the child's service, and that of the pool above or, at the root, all that the cluster could give.
func (d decayPolicy) received(p *sched.Pool, at *sched.Setting) (amount, whole float64) {
	capacity := math.Max(1, at.Capacity) // at least 1, before the first node joins
	var days *usage.Days
	if d.days > 0 {
		days = at.Days.Of(p.Days)
	}
	switch {
	case !at.Top && days != nil && at.Above.Days != 0:
		return days.Sum(at.Unix), at.Days.Of(at.Above.Days).Sum(at.Unix)
	case !at.Top:
		return p.Service(at.Now), at.Above.Service(at.Now)
	case days != nil:
		return days.Sum(at.Unix), capacity * usage.Day
	case at.MeanLife > 0:
		return p.Service(at.Now) / at.Growth, capacity * at.MeanLife
	}
	return p.Service(at.Now) / at.Growth, capacity * at.Seconds
}

// Recompute implements replay.Rule.
func (decayPolicy) Recompute(c *replay.Choice) replay.Standing {
	p, above, capacity := c.Child, c.Above, math.Max(1, c.Capacity)
	fixed, whole := c.Service(p), capacity*c.Seconds
	amount := fixed / c.Growth
	top, days := above.Parent < 0, above.ByDays && p.Days != nil
	switch {
	case !top && days && above.Days != nil:
		amount, whole = sumOfDays(p.Days), sumOfDays(above.Days)
		fixed = amount
	case !top:
		amount, whole = fixed, c.Service(above)
	case days:
		amount, whole = sumOfDays(p.Days), capacity*86400
		fixed = amount
	case c.MeanLife > 0:
		whole = capacity * c.MeanLife
	}
	s := replay.Standing{Tie: -p.Weight, Fixed: fixed, Drift: [2]float64{p.Weight}}
	if above.Weights != 0 {
		s.Values[0] = p.Weight / above.Weights
	}
	if amount > 0 {
		s.Values[1] = amount / math.Max(whole, 1)
	}
	return s
}

func sumOfDays(d *why.DaysUsed) float64 { return d.Past + d.Today + float64(d.Slots*d.Seconds) }

// Drift implements sched.Drifter: the priorities of children with equal weights age equally.
func (decayPolicy) Drift(p *sched.Pool, _ sched.Setting) [2]float64 { return [2]float64{p.Weight} }

// Days implements sched.Daily.
func (d decayPolicy) Days() (int, float64) { return d.days, d.factor }

// Renew implements sched.Renewer: at midnight UTC every past day counts less.
func (d decayPolicy) Renew(now time.Time) time.Time {
	if d.days == 0 {
		return time.Time{}
	}
	return now.UTC().Truncate(usage.Day * time.Second).Add(usage.Day * time.Second)
}

// Zero implements sched.Zeroer: a share of 0 has a priority of 0 or less.
func (decayPolicy) Zero() {}

var (
	_ sched.Drifter = decayPolicy{}
	_ sched.Renewer = decayPolicy{}
	_ sched.Daily   = decayPolicy{}
	_ replay.Rule   = decayPolicy{}
)
