package policy

import (
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// drfPolicy serves the child with the smallest dominant share first (dominant resource fairness; Ghodsi, Zaharia,
// Hindman, Konwinski, Shenker and Stoica, NSDI 2011):
//
//	key = used / (total * weight)        smallest first
//
// The running tasks in and below a child use a part of each resource of the nodes that take tasks. The largest of
// these parts is its dominant share, and that resource is its dominant resource. Of this resource, "used" is the
// amount that the child uses, and "total" is the amount that the nodes have. So a user who needs memory and a user
// who needs processors each get equally large parts.
//
// Only running tasks count; past usage does not. The tree is served from the top, and a pool with child pools is
// compared by what its children hold together. Children with equal keys take turns by their weights. Otherwise the
// older of two children that compete for one slot would get that slot every time, because their keys are equal
// whenever it is free.
//
// Example, from the paper: there are nine processors and 18 GB. Each task of pool a takes one processor and 4 GB, and
// each task of pool b takes three processors and 1 GB. Pool a starts first, by age, and has 4 of 18 GB, 0.22. Pool b
// has 0, so b starts, and has 3 of 9 processors, 0.33. Then a starts (8 of 18 GB, 0.44), b (6 of 9 processors, 0.67),
// and a (12 of 18 GB, 0.67). Now nothing fits: three tasks of a and two of b run, and both have two thirds of their
// dominant resource.
type drfPolicy struct{}

var drf = why.NewFormula("drf", "used / (total * weight)", "smallest first",
	why.Term{Name: "used", Unit: why.OfResource, Doc: "what its running tasks have of its dominant resource, where their part is the largest"},
	why.Term{Name: "total", Unit: why.OfResource, Doc: "what the nodes that take tasks have of it"},
	why.Term{Name: "weight", Doc: "its weight among its siblings"},
).Phrased("uses {used} of {total} {resource} at weight {weight}", "dominant share {key}").
	TiedBy("it is its turn: pools that hold the same part take turns by their weights")

// Formula implements sched.Policy.
func (drfPolicy) Formula() *why.Formula { return drf }

// Terms implements sched.Keyed.
func (drfPolicy) Terms(p *sched.Pool, at sched.Setting) why.Terms {
	d := at.Dominant(p)
	t := why.Terms{Formula: drf, Tie: d.Turn, Resource: d.Resource}
	t.Values[0], t.Values[1], t.Values[2] = d.Used, d.Total, p.Weight
	t.Key = d.Used / float64(d.Total*p.Weight)
	return t
}

// Holds implements sched.Holding.
func (drfPolicy) Holds() {}

// Recompute implements replay.Rule.
func (drfPolicy) Recompute(c *replay.Choice) replay.Standing {
	used, total := 0.0, 1.0
	for i, n := range c.Child.Holds {
		if i < len(c.Totals) && c.Totals[i] > 0 && float64(n)/c.Totals[i] > used/total {
			used, total = float64(n), c.Totals[i]
		}
	}
	return replay.Standing{Values: [why.MaxTerms]float64{used, total, c.Child.Weight}, Tie: c.Child.Turn}
}

var (
	_ sched.Holding = drfPolicy{}
	_ replay.Rule   = drfPolicy{}
)
