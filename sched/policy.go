package sched

import (
	"time"

	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// Policy is how a pool divides what it gets among its children. A policy is also
// one of [Keyed], [Weigher], [Allotter] or [Ranker], which say how it chooses.
type Policy interface {
	// Formula is the rule, with the names of the terms it computes with.
	Formula() *why.Formula
}

// Keyed policies order the children by a key, smallest first.
type Keyed interface {
	Policy
	// Terms computes the child's key and the terms it follows from. Between two
	// events of the child the key must not fall as time passes: a key computed
	// earlier then is a lower bound, and only the first in the order is computed anew.
	Terms(child *Pool, at Setting) why.Terms
}

// Weigher policies draw a child at random, in proportion to its weight.
type Weigher interface {
	Policy
	// Weigh computes the child's weight as the key of its terms.
	Weigh(child *Pool) why.Terms
}

// Allotter policies allot the free slots among the children, by how many they have and
// how many they are entitled to.
type Allotter interface {
	Keyed
	// Targets divides all slots by the children's weights: what each is entitled to.
	Targets(whole int64, weights []float64) []int64
	// Allot divides room free slots among all children, and
	// returns how many each may start.
	Allot(room int64, children []Claimant) []int64
	// Serves reports whether a child of the weight gets anything at all.
	Serves(weight float64) bool
	// Single reports whether a single slot goes to the child with the smallest key, so
	// that it needs no allotment.
	Single() bool

	// Rebalances returns above which spread of the children, and for how long, tasks are
	// to be stopped; a threshold of 0 is never.
	Rebalances() (threshold float64, after time.Duration)
	Spread(whole int64, children []Claimant) float64
	Rebalance(room int64, children []Claimant) (starts, stops []int64)
}

// Claimant is a child as an [Allotter] sees it. All but the load are in slots.
type Claimant struct {
	Load                     float64 // its weight
	Target, Running, Waiting int64
}

// Carrier is a keyed policy with a memory of its own about each child: its level, i.e.
// the service it has received for its weight. A child that returns after an absence is
// carried up to the level of the least served child that is next in order, so that
// absence earns no credit; one whose weight changes keeps its level. What is merely
// expected of running tasks is no part of the level: an expectation that turns out wrong
// must not stay with those who came meanwhile.
type Carrier interface {
	Keyed
	// Level is what the child has received for its weight. It does not fall as time
	// passes.
	Level(child *Pool, now usage.Now) float64
	// Carry sets child.Own so that the child's level is level.
	Carry(child *Pool, level float64, now usage.Now)
}

// Drifter is a keyed policy whose keys change as time passes although nothing happens
// to the children, such as an amount that is owed and grows. Children with the same
// drift change alike, so that their order among one another stays. [why.Terms.Fixed] is
// what orders them: it must not fall between two events of the child, and the keys of
// children with the same drift must be in its order. The first of each drift are compared
// by their keys, so a policy should have few drifts.
type Drifter interface {
	Keyed
	// Drift tells children whose keys change differently apart.
	Drift(child *Pool, at Setting) [2]float64
}

// DeficitPolicy compares what children are owed: [Setting.Owed] and [Setting.Still].
type DeficitPolicy interface {
	Drifter
	Owes()
}

// Holding policies compare what the running tasks of children hold of each resource:
// [Setting.Dominant].
type Holding interface {
	Keyed
	Holds()
}

// Renewer is a policy whose keys, or what orders them, may also fall at instants that it
// knows, such as midnight. At these the keys of all children are computed anew.
type Renewer interface {
	Policy
	// Renew returns the next such instant after now, zero if there is none.
	Renew(now time.Time) time.Time
}

// Zeroer is a policy to which the weight 0 means something: entitled to nothing, and
// served after everybody else. The others divide by the weight.
type Zeroer interface{ Zero() }

// Daily policies count the last days apart: their children have [Pool.Days].
type Daily interface {
	Keyed
	// Days are how many days count, and the factor of each against the day after it.
	Days() (n int, factor float64)
}

// outlasting marks keyed policies under which a child with a larger share stays before another for as long as it
// does not use that share up.
type outlasting interface {
	// Outlasts reports whether a child goes before another whatever that received, after a wait in which the child's
	// use should have changed this.
	Outlasts(child, other *Pool, waited time.Duration, at Setting) bool
}

// Merger is a keyed policy under which children that tie to the last digit, and have
// children of their own, go in the order of these children: as if these were the
// children of one pool.
type Merger interface {
	Keyed
	// Merges reports whether it does so.
	Merges() bool
}

// Shortlister is a policy of the root that limits how much one step takes.
type Shortlister interface {
	// Shortlist returns how many pools a step draws and how many jobs it takes from
	// each; 0 is no limit and one job a draw.
	Shortlist() (pools, jobs int)
}

// byArrival marks policies that read [Pool.First]: it is kept up only for them.
type byArrival interface{ ByArrival() }

// Ranked is the priority of a job, term by term.
type Ranked struct {
	Job                                                      int64
	Age, Fairshare, Size, Pool, QOS, Assoc, TRES, Site, Nice float64
}

// Ranker is a policy that serves the jobs in and below a pool by a priority of their
// own, whichever child they are in. The scheduler keeps the priorities, under
// [Config.Multifactor]; the policy has the formula.
type Ranker interface {
	Policy
	// Rank makes of the priority of a child's first job what children are compared by:
	// the largest priority has the smallest key, and the smaller job the smaller tie.
	Rank(r Ranked) why.Terms
}

// Priority is the sum of the terms. They are multiples of one power of two, so that it is
// exact.
func (r *Ranked) Priority() float64 {
	return r.Age + r.Fairshare + r.Size + r.Pool + r.QOS + r.Assoc + r.TRES + r.Site - r.Nice
}
