package sched

import (
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// byPriority serves the waiting priorities of a leaf pool one after another:
//
//	key = priority        smallest first
//
// priority counts from 0, the highest. It has no memory: a job that moves to a higher priority goes before all jobs
// of its old one, and a job that moves to a lower priority goes behind all jobs of its old one. Weights cannot
// promise this: a priority with a single waiting job has its share for that job alone, so that a lower priority may
// start a job sooner.
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
// the leaf pool. Policies that go by priority themselves choose here, too. Under weights, a policy that counts all
// past usage would treat a new priority like one that was always passed over; the policy fair divides instead,
// because a newcomer joins it level with the others.
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
