package sched

import (
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// byPriority serves the priorities that wait in a leaf one after another:
//
//	key = priority        smallest first
//
// priority counts from 0, the highest. It has no memory: a job that gets a higher
// priority goes before all jobs that it has left behind, and a job that gets a lower
// one goes before none that it had behind it. Weights cannot promise this: a priority in
// which one job waits alone has its part for itself, so that a lower priority may start a
// job sooner.
type byPriority struct{}

var priorityOrder = why.NewFormula("priority", "priority", "smallest first",
	why.Term{Name: "priority", Doc: "of its jobs; 0 is the highest"},
).Phrased("is priority {priority}", "priority {key}")

// Formula implements [Policy].
func (byPriority) Formula() *why.Formula { return priorityOrder }

// Terms implements [Keyed].
func (byPriority) Terms(p *Pool, _ Setting) why.Terms {
	t := why.Terms{Formula: priorityOrder, Key: float64(max(0, p.priority))}
	t.Values[0] = t.Key
	return t
}

// amongPriorities returns the policy that chooses among the waiting priorities of a leaf,
// given the policy of the leaf. Policies that go by priority themselves choose here, too. By
// weights, a policy that looks at all that was ever used would serve a priority that is
// new as one that was always passed over; there fair divides, in which a newcomer enters
// level with the others.
func (m *site) amongPriorities(of Policy) Policy {
	switch of.(type) {
	case byArrival, Ranker:
		return of
	}
	if !m.cfg.PriorityWeights {
		return byPriority{}
	}
	switch of.(type) {
	case Carrier, DeficitPolicy, Holding, Weigher, Allotter:
		return of
	}
	return m.cfg.NewPolicy("fair", share.Options{})
}
