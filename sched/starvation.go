package sched

import "github.com/fairlead/fairlead/why"

// Starves reports whether others can pass a waiting job for ever, as a closed gate: its name is the
// setting that lets them, and Where the pool whose order or maximum that is; the job lacks as much as
// Need of Limit. It follows from the facts of this moment: what the job lacks, who asks for less of it
// or goes first always, and whether the placement keeps something for it. Nobody asks for less than a
// job of one slot, say.
func (v GateView) Starves(j Job) (why.Gate, bool) {
	for _, passed := range []func(*Job) (why.Gate, bool){
		v.passedBelowMax, v.passedForLicenses, v.passedInRoom, v.outranked,
	} {
		if g, yes := passed(&j); yes {
			g.Code = starving[g.Name]
			return g, true
		}
	}
	return why.Gate{}, false
}
