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

// Load divides the free slots among classes with load percentages (LoadBasedAlg in the README of Twitter's Scoot):
//
// A class is entitled to its load percentage of all slots, its target. In entitlement rounds, free slots are
// divided among the classes that are below their target and have tasks waiting, in proportion to the difference.
// Slots that are still free are loaned. The slots on loan and the free slots together are divided by the load
// percentages of the classes with tasks waiting. Each class gets the part of its loan that it does not have yet.
//
// A single slot therefore goes to the child with the smallest key:
//
//	key = running - target + (loans - loan) * min(1, max(0, running - target + 1))
//
// Below the target the key is running - target, which is negative. At or above the target, the key is the number of
// slots that the child has on loan, plus the part of all loans that belongs to the other classes: "loans" are the slots
// above the targets and the free slots, and "loan" is the child's part of them. A step with several free slots allots
// them in rounds, with the same numbers.
//
// A class with load 0% gets the slots that no other class can use. Parts are rounded to whole slots by largest
// remainder. If a class has fewer tasks waiting than its part, all parts are rounded down, and the rest is divided
// in the next round. When less than one slot per class is left, the rest is divided by largest remainder. Of equal
// remainders the larger load goes first, then the older class.
//
// rounding scoot rounds as Scoot does (see scoot.go), and never serves a load of 0%.
//
// Example 1 of the source: 1,000 slots, 290 free; loads 30, 25, 20, 15, 10 and 0%, running 200, 300, 0, 100, 110
// and 0, waiting 290, 230, 150, 150, 90 and 328. c0 is 100 below its target, c2 200 and c3 50. Their parts of 290
// are 82, 165 (only 150 wait) and 41, so 17 are left. Now c0 lacks 18 and c3 9: they get 11 and 5. The last slot
// goes to c0, whose part of it is 7/11. The grants are 94, 150 and 46.
//
// Another example: of ten slots, pool a has a load of 60% and pool b of 40%. Tasks of both wait; six of a and three of
// b run. Pool a is at its target 6, and pool b is one below its target 4. The keys are 0 + (1 - 0.6) and -1, so b goes
// first. If no task of b waits, a takes the slot on loan.
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

// loanSteps is the number of steps per slot in which loans are counted. Loans that differ by whole slots still do
// so after rounding, so classes with equal keys by the formula get equal keys.
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

// Drift implements sched.Drifter: children with equal loads have equal loans.
func (Load) Drift(p *sched.Pool, _ sched.Setting) [2]float64 { return [2]float64{p.Weight} }

// Recompute implements replay.Rule, for one free slot.
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

// exactSum adds without accumulating rounding errors (Neumaier, 1974), so that the order in which children came and
// went does not matter.
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

// someOf returns the parts, or 1 for each if all are 0.
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
	a.divide(entitlement, a.unused)
	a.divide(loan, a.loans)
	return a.grants
}

// Rounds returns the rounds of Allot.
func (l Load) Rounds(room int64, classes []sched.Claimant) []Round {
	var all []Round
	l.allot(&allotment{classes: classes, room: room, note: func(r Round) { all = append(all, r) }})
	return all
}

// Spread implements sched.Allotter: it returns the distance, in percentage points, between the class furthest below
// its load and the class furthest above. It skips classes that are not above their load and have no tasks waiting.
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

// Rebalance implements sched.Allotter: classes above their targets stop the excess, and the others may start tasks up
// to their targets. The slots that then remain free are loaned; a class first uses its loan to keep tasks that would be
// stopped.
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
