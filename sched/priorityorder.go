package sched

import (
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// byPriority serves the waiting priorities of a leaf pool one after another:
//
//	key = priority        smallest first
//
// priority counts from 0, the highest. The order has no memory. A job that moves to a higher priority goes before
// all jobs of its old priority. A job that moves to a lower priority goes behind all jobs of its old priority.
// Weights cannot promise this. A priority with a single waiting job uses its whole share for that job, so a job
// that moves to this lower priority may even start sooner.
type byPriority struct{}

var priorityOrder = why.NewFormula("priority", "priority", "smallest first",
	why.Term{Name: "priority", Doc: "of its jobs; 0 is the highest"},
).Phrased("has priority {priority}", "priority {key}")

// Formula implements [Policy].
func (byPriority) Formula() *why.Formula { return priorityOrder }

// Terms implements [Keyed].
func (byPriority) Terms(p *Pool, _ Setting) why.Terms {
	t := why.Terms{Formula: priorityOrder, Key: float64(max(0, p.priority))}
	t.Values[0] = t.Key
	return t
}

// amongPriorities returns the policy that chooses among the waiting priorities of a leaf pool, given the policy of
// the leaf pool. If the policy of the leaf pool itself goes by priority, it also chooses here. With weights, a
// policy that counts all past usage would treat a new priority as if it had always been passed over. The policy
// fair takes the place of such a policy, because under it a newcomer starts at the level of the others.
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
