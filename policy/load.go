package policy

import (
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// Load divides the slots that are free among classes with load percentages (LoadBasedAlg in
// the README of Twitter's Scoot):
//
// A class is entitled to its load percentage of all slots, its target. In entitlement
// rounds, free slots are divided among the classes that are below their target and have
// tasks waiting, in proportion to the difference. Slots that are still free are loaned: the
// slots on loan and the free ones together are divided by the load percentages of the
// classes with tasks waiting, and each gets what it has not on loan already.
//
// A single slot therefore goes to the child with the smallest key:
//
//	key = running - target + (loans - loan) * min(1, max(0, running - target + 1))
//
// While it is below its target that is running - target, which is below 0. From the
// target on it is what it has on loan, plus what it is not entitled to of all loans. A
// step with several free slots allots them in rounds, with the same numbers.
//
// A class with load 0% gets what nobody else can use. Parts are brought to whole slots by
// largest remainder. Where a class has less waiting than its part, they are rounded down,
// and the rest is divided in the next round, until less than a slot for everybody is
// left, which goes by largest remainder. At equal remainders the larger load goes first, then
// the older class.
//
// rounding scoot rounds as Scoot does (see scoot.go), and never serves a load of 0%.
//
// Example 1 of the source: 1,000 slots, 290 free; loads 30, 25, 20, 15, 10 and 0%, running
// 200, 300, 0, 100, 110 and 0, waiting 290, 230, 150, 150, 90 and 328. Below their targets
// are c0 by 100, c2 by 200 and c3 by 50: of 290 they get 82, 165 (150 wait) and 41, and 17
// are left. Now c0 lacks 18 and c3 9: 11 and 5, and the last slot is 7/11 c0's: 94, 150, 46.
//
// Another: ten slots, a 60%, b 40%, both waiting, six of a and three of b running: a is
// at its target 6 and b one below 4: keys a 0 + (1 - 0.6), b -1: b. When b has nothing
// waiting, a takes the slot on loan.
type Load struct {
	scoot     bool
	rebalance share.Rebalance
}

func newLoad(o share.Options) Load { return Load{o.Rounding == "scoot", o.Rebalance} }

var load = why.NewFormula("load", "running - target + (loans - loan) * min(1, max(0, running - target + 1))", "smallest first",
	why.Term{Name: "running", Doc: "slots that it has"},
	why.Term{Name: "target", Doc: "slots that it is entitled to: its load percentage of all"},
	why.Term{Name: "loans", Doc: "slots above targets, and free ones"},
	why.Term{Name: "loan", Doc: "its part of these, by its load among those with work"},
).Phrased("has {running} of its {target} slots", "above target {key}")

// loanSteps are the steps of a slot in which loans are counted. Two loans that differ by whole slots
// do so in these, too, so that classes which have the same by the formula have the same key.
const loanSteps = 1 << 20

// Formula implements sched.Policy.
func (Load) Formula() *why.Formula { return load }

// Terms implements sched.Keyed.
func (Load) Terms(p *sched.Pool, at sched.Setting) why.Terms {
	t := why.Terms{Formula: load, Tie: -p.Weight, Fixed: p.Running - p.Target}
	loan := 0.0
	if at.Open > 0 {
		loan = math.Round(at.Loans*p.Weight/at.Open*loanSteps) / loanSteps
	}
	t.Values[0], t.Values[1], t.Values[2], t.Values[3] = p.Running, p.Target, at.Loans, loan
	over := p.Running - p.Target
	t.Key = over + float64((at.Loans-loan)*math.Min(1, math.Max(0, over+1)))
	return t
}

// Drift implements sched.Drifter: the loan of children of the same load is the same.
func (Load) Drift(p *sched.Pool, _ sched.Setting) [2]float64 { return [2]float64{p.Weight} }

// Recompute implements replay.Rule: a single slot is free.
func (Load) Recompute(c *replay.Choice) replay.Standing {
	p, loans, loan := c.Child, c.Above.Loaned, 0.0
	var open []float64
	for sibling, may := range c.Siblings() {
		loans += math.Max(0, sibling.Running-sibling.Target)
		if may {
			open = append(open, sibling.Weight)
		}
	}
	loans++
	if sum := exactSum(open); sum > 0 {
		const steps = 1 << 20 // of a slot
		loan = math.Round(loans*p.Weight/sum*steps) / steps
	}
	return replay.Standing{
		Values: [why.MaxTerms]float64{p.Running, p.Target, loans, loan}, Tie: -p.Weight,
		Fixed: p.Running - p.Target, Drift: [2]float64{p.Weight},
	}
}

// exactSum adds up without building up rounding (Neumaier, 1974), so that the order in
// which children came and went does not matter.
func exactSum(xs []float64) float64 {
	slices.Sort(xs)
	high, low := 0.0, 0.0
	for _, x := range xs {
		t := high + x
		if math.Abs(high) >= math.Abs(x) {
			low += (high - t) + x
		} else {
			low += (x - t) + high
		}
		high = t
	}
	return high + low
}

// Zero implements sched.Zeroer.
func (Load) Zero() {}

// Serves implements sched.Allotter.
func (l Load) Serves(load float64) bool { return load > 0 || !l.scoot }

// Single implements sched.Allotter.
func (l Load) Single() bool { return !l.scoot }

// Targets implements sched.Allotter.
func (l Load) Targets(whole int64, loads []float64) []int64 {
	if l.scoot {
		return scootTargets(whole, loads)
	}
	loads = someOf(loads)
	return apportion(whole, proportions(loads, whole), func(i int) float64 { return loads[i] })
}

// someOf is 1 for each where all are 0.
func someOf(parts []float64) []float64 {
	for _, p := range parts {
		if p > 0 {
			return parts
		}
	}
	equal := make([]float64, len(parts))
	for i := range equal {
		equal[i] = 1
	}
	return equal
}

// Allot implements sched.Allotter.
func (l Load) Allot(room int64, classes []sched.Claimant) []int64 {
	return l.allot(&allotment{classes: classes, room: room})
}

func (l Load) allot(a *allotment) []int64 {
	a.grants = make([]int64, len(a.classes))
	if l.scoot {
		scootAllot(a)
		return a.grants
	}
	a.phase = entitlement
	if !a.whole(a.unused()) {
		for a.round(a.unused()) {
		}
	}
	a.phase = loan
	if !a.whole(a.loans()) {
		for a.round(a.loans()) {
		}
	}
	return a.grants
}

// Rounds returns the rounds in which Allot comes to its result.
func (l Load) Rounds(room int64, classes []sched.Claimant) []Round {
	var all []Round
	l.allot(&allotment{classes: classes, room: room, note: func(r Round) { all = append(all, r) }})
	return all
}

// Spread implements sched.Allotter: how far, in percentage points, the class that is most
// below its load is from the one that is most above it. Classes count that are above, or
// have tasks waiting.
func (l Load) Spread(whole int64, classes []sched.Claimant) float64 {
	if whole == 0 {
		return 0
	}
	percents := hundred(loadsOf(classes), l.scoot)
	least, most := 0.0, 0.0
	for i, c := range classes {
		has := float64(c.Running) * 100 / float64(whole)
		if l.scoot {
			has = math.Floor(has)
		}
		if c.Waiting == 0 && has <= percents[i] {
			continue
		}
		least, most = math.Min(least, percents[i]-has), math.Max(most, percents[i]-has)
	}
	return most - least
}

// Rebalances implements sched.Allotter.
func (l Load) Rebalances() (threshold float64, after time.Duration) {
	return l.rebalance.Threshold, l.rebalance.MinDuration
}

// Rebalance implements sched.Allotter: the classes above their targets are to stop what
// is above, and the others may start up to theirs. What that leaves free is loaned, and a
// loan first reduces the stops.
func (l Load) Rebalance(room int64, classes []sched.Claimant) (starts, stops []int64) {
	starts, stops = make([]int64, len(classes)), make([]int64, len(classes))
	after := make([]sched.Claimant, len(classes))
	for i, c := range classes {
		after[i] = c
		stops[i] = max(0, c.Running-c.Target)
		starts[i] = min(c.Waiting, max(0, c.Target-c.Running))
		after[i].Running += starts[i] - stops[i]
		after[i].Waiting += stops[i] - starts[i]
		room += stops[i] - starts[i]
	}
	for i, loan := range l.Allot(max(0, room), after) {
		kept := min(loan, stops[i])
		stops[i] -= kept
		starts[i] += loan - kept
	}
	return starts, stops
}

var (
	_ sched.Allotter = Load{}
	_ replay.Rule    = Load{}
)
