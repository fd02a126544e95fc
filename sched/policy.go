package sched

import (
	"time"

	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// Policy divides a pool among its children. A policy also implements one of [Keyed], [Weigher], [Allotter] or
// [Ranker], which define how it chooses.
type Policy interface {
	// Formula is the rule, with the names of its terms.
	Formula() *why.Formula
}

// Keyed policies order the children by a key, smallest first.
type Keyed interface {
	Policy
	// Terms computes the child's key and its terms. Between two events of the child the key must not fall as time
	// passes. Then an older key is a lower bound, and only the first key in the order is recomputed.
	Terms(child *Pool, at Setting) why.Terms
}

// Weigher policies draw a child at random, in proportion to its weight.
type Weigher interface {
	Policy
	// Weigh returns the child's weight as the key of its terms.
	Weigh(child *Pool) why.Terms
}

// Allotter policies allot the free slots among the children, by the slots that they have and are entitled to.
type Allotter interface {
	Keyed
	// Targets divides all slots by the children's weights, into entitlements.
	Targets(whole int64, weights []float64) []int64
	// Allot divides the free slots among all children, and returns how many slots each child may start. The argument
	// "room" is the number of free slots.
	Allot(room int64, children []Claimant) []int64
	// Serves reports whether a child of that weight gets any slots at all.
	Serves(weight float64) bool
	// Single reports whether a single slot goes to the child with the smallest key, so
	// that it needs no allotment.
	Single() bool

	// Rebalances returns the spread of the children above which tasks are stopped, and for how long it must last; a
	// threshold of 0 means never.
	Rebalances() (threshold float64, after time.Duration)
	Spread(whole int64, children []Claimant) float64
	Rebalance(room int64, children []Claimant) (starts, stops []int64)
}

// Claimant is a child as seen by an [Allotter]. All fields but Load are in slots.
type Claimant struct {
	Load                     float64 // its weight
	Target, Running, Waiting int64
}

// Carrier is a keyed policy with its own memory of each child: the child's level, which is the service that it has
// received for its weight. A child that returns after an absence is raised to the lowest level among the children that
// could start a task next, so that absence earns no credit. A child whose weight changes keeps its level. The expected
// service of running tasks is not part of the level, because a wrong expectation would stay with the children that
// joined in the meantime.
type Carrier interface {
	Keyed
	// Level is the service that the child has received for its weight. It never falls as time passes.
	Level(child *Pool, now usage.Now) float64
	// Carry sets child.Own so that the child has this level.
	Carry(child *Pool, level float64, now usage.Now)
}

// Drifter is a keyed policy whose keys change as time passes, without events of the children. For example, deficits
// grow. The keys of children with the same drift change equally, so that their order stays the same.
// [why.Terms.Fixed] sorts these children. It must not fall between two events of a child, and must order children
// with the same drift as their keys do. The first child of each drift is compared by its key, so a policy should
// have few drifts.
type Drifter interface {
	Keyed
	// Drift distinguishes children whose keys change differently.
	Drift(child *Pool, at Setting) [2]float64
}

// DeficitPolicy compares the deficits of children: [Setting.Owed] and [Setting.Still].
type DeficitPolicy interface {
	Drifter
	Owes()
}

// Holding policies compare the amounts of each resource that the running tasks of children hold:
// [Setting.Dominant].
type Holding interface {
	Keyed
	Holds()
}

// Renewer is a policy whose keys, or [why.Terms.Fixed], may also fall at known instants, such as midnight. The keys
// of all children are recomputed at these instants.
type Renewer interface {
	Policy
	// Renew returns the next such instant after now, zero if there is none.
	Renew(now time.Time) time.Time
}

// Zeroer is a policy that supports the weight 0: a child with this weight is entitled to nothing, and served after
// all others. Other policies divide by the weight.
type Zeroer interface{ Zero() }

// Daily policies count the last days separately: see [Pool.Days].
type Daily interface {
	Keyed
	// Days returns how many days count, and the factor of each day relative to the next one.
	Days() (n int, factor float64)
}

// outlasting marks keyed policies under which a child with a larger share goes before another child until it has
// used up that share.
type outlasting interface {
	// Outlasts reports whether the child stays before the other child, whatever service the other received. It may
	// stay first even after a wait in which its own usage should have changed the order.
	Outlasts(child, other *Pool, waited time.Duration, at Setting) bool
}

// Merger is a keyed policy that orders children with exactly equal keys by their own children, as if all of these
// had one parent.
type Merger interface {
	Keyed
	// Merges reports whether the policy merges.
	Merges() bool
}

// Shortlister is a policy of the root that limits the starts of one step.
type Shortlister interface {
	// Shortlist returns how many pools a step draws and how many jobs it takes from each; 0 means no limit, and one
	// job per draw.
	Shortlist() (pools, jobs int)
}

// byArrival marks keyed policies whose key is [Pool.First], which is kept up to date only for them.
type byArrival interface{ ByArrival() }

// Ranked is the priority of a job, term by term.
type Ranked struct {
	Job                                                      int64
	Age, Fairshare, Size, Pool, QOS, Assoc, TRES, Site, Nice float64
}

// Ranker is a policy that serves the jobs in and below a pool by their own priorities, regardless of the child that
// holds them. The scheduler computes the priorities, under [Config.Multifactor]; the policy has the formula.
type Ranker interface {
	Policy
	// Rank converts the priority of a child's first job into the terms that compare children: the largest priority
	// gets the smallest key, and the smaller job number the smaller tie.
	Rank(r Ranked) why.Terms
}

// Priority is the sum of the terms. It is exact, because they are multiples of one power of two.
func (r *Ranked) Priority() float64 {
	return r.Age + r.Fairshare + r.Size + r.Pool + r.QOS + r.Assoc + r.TRES + r.Site - r.Nice
}
