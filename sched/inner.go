package sched

import (
	"iter"
	"slices"
	"time"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// inner is the additional state of a pool with children. "Open" children have work that may start.
type inner struct {
	id   int32 // of the pool
	kids []int32
	open int
	mean float64 // mean task length when the pool became an inner pool, for tasks that ran then

	policy Policy
	as     *roles // the same policy; forks share it
	*allotting
	deficits *deficits
	held     *holdings

	keys     keys    // open children, under a keyed policy
	weights  sumTree // weights of the open children by position, under a weigher
	arrivals order   // open children by First, if first is set and byFirst is not
	first    bool    // a policy here or above reads the children's First
	byFirst  bool    // the policy here orders by First, so that keys has the order of arrivals
	ranks    bool    // a policy here or above is a ranker
	rising   order   // open children by their first job below the maximum age, if ranks is set
	full     order   // the same for jobs above the maximum age
	belowMin []int32 // open children below their minimum
	counted  sum     // of the weights of the children that count for shares
	clock    float64 // largest level of a chosen child, under a carrier
}

func newInner(id int32) inner {
	return inner{id: id, as: &roles{}, arrivals: order{by: inArrivalOrder}, rising: order{by: inRisingOrder},
		full: order{by: inFullOrder}}
}

func (in *inner) setPolicy(p Policy) {
	as := &roles{}
	in.policy, in.as = p, as
	as.keyed, _ = p.(Keyed)
	as.weigher, _ = p.(Weigher)
	if as.allot, _ = p.(Allotter); as.allot != nil {
		var over time.Time
		if in.allotting != nil {
			over = in.over
		}
		in.allotting = &allotting{over: over}
	}
	as.carrier, _ = p.(Carrier)
	as.drifter, _ = p.(Drifter)
	if _, owes := p.(DeficitPolicy); !owes {
		in.deficits = nil
	} else if in.deficits == nil {
		in.deficits = &deficits{}
	}
	if _, holds := p.(Holding); !holds {
		in.held = nil
	} else if in.held == nil {
		in.held = &holdings{}
	}
	if as.daily, _ = p.(Daily); as.daily != nil {
		if n, _ := as.daily.Days(); n == 0 {
			as.daily = nil
		}
	}
	if as.merger, _ = p.(Merger); as.merger != nil && !as.merger.Merges() {
		as.merger = nil
	}
	as.renewer, _ = p.(Renewer)
	as.ranker, _ = p.(Ranker)
	in.keys = newKeys(as.drifter != nil)
}

// ranked is the number that sorts a child in its order.
func (in *inner) ranked(t *why.Terms) float64 {
	if in.as.drifter != nil {
		return t.Fixed
	}
	return t.Key
}

// listsArrivals reports whether arrivals is kept up to date.
func (in *inner) listsArrivals() bool { return in.first && !in.byFirst }

// byArrival is the open children in order of arrival, if first is set.
func (in *inner) byArrival() []rank {
	if in.byFirst {
		return in.keys.orders[0].entries
	}
	return in.arrivals.entries
}

// standsIn reports whether some child has a place in an order of a dominant resource.
func (in *inner) standsIn(m int8) bool {
	for i, drift := range in.keys.drifts {
		if drift[1] == float64(m) && len(in.keys.orders[i].entries) > 0 {
			return true
		}
	}
	return m > 0 && int(m) <= len(in.deficits.keys) && in.deficits.keys[m-1].len() > 0
}

// orders yields the orders whose children are compared in a setting, except empty ones; a choice compares their
// first children.
func (in *inner) orders(at *Setting) iter.Seq[*order] {
	return func(yield func(*order) bool) {
		for i := range in.keys.orders {
			o := &in.keys.orders[i]
			if len(o.entries) == 0 || at.main > 0 && in.keys.drifts[i][1] != float64(at.main-1) {
				continue
			}
			if !yield(o) {
				return
			}
		}
		if at.main < 2 || int(at.main) > len(in.deficits.keys)+1 {
			return
		}
		others := &in.deficits.keys[at.main-2]
		for i := range others.orders {
			if o := &others.orders[i]; len(o.entries) > 0 && !yield(o) {
				return
			}
		}
	}
}

func (in *inner) merges() bool { return in.as.merger != nil && in.open > 0 }

// roles are the interfaces that a policy implements; the others are nil.
type roles struct {
	keyed   Keyed
	weigher Weigher
	allot   Allotter
	carrier Carrier
	drifter Drifter
	daily   Daily
	merger  Merger
	renewer Renewer
	ranker  Ranker
}

// label is the name and the configuration of a pool, which decisions do not need.
type label struct {
	name    string
	kind    kind
	weight  float64       // without boosts
	first   time.Time     // when the pool was created
	starter share.Starter // for pools below it that are created on demand
	policy  string        // "" inherits
	made    Policy        // the policy of that name, nil without one
	factor  *float64      // of its jobs under a ranker, nil without one
	assoc   *float64
	reclaim share.Reclaim
}

// keys orders the open children of a pool under a keyed policy: one order per drift, see [Drifter]. Policies whose
// keys do not drift have one order.
type keys struct {
	by     int8 // passed to the orders
	orders []order
	number map[[2]float64]int32 // index of each drift's order; nil if keys do not drift
	drifts [][2]float64         // of each order
	free   freeList             // empty orders, for reuse
}

func newKeys(drifts bool) keys {
	k := keys{}
	if drifts {
		k.number = map[[2]float64]int32{}
	} else {
		k.orders = make([]order, 1)
	}
	return k
}

// len is the number of children in the orders.
func (k *keys) len() int {
	n := 0
	for i := range k.orders {
		n += len(k.orders[i].entries)
	}
	return n
}

// order is an indexed heap of a pool's children by key, smallest first. Each heap node has four children, which are
// adjacent in memory. Equal keys are ordered by tie, then by pool number, that is by age.
type order struct {
	entries []rank
	by      int8 // inKeyOrder or another constant; from inMainOrder on by dominant resource
}

// A pool has a place in up to four orders of its parent, and in one order of all leaf pools.
const (
	inKeyOrder = iota
	inArrivalOrder
	inRisingOrder
	inFullOrder
	inFillOrder
	inMainOrder
)

type rank struct {
	place
	child int32
}

// places is the index of each pool in its parent's orders, -1 if it is not there. It is separate from the pools, so
// that moving through a heap touches little memory.
type places [][]int32

const arity = 4

// freeList reuses released numbers.
type freeList []int32

// take returns a free number, or next if there is none.
func (f *freeList) take(next int) int32 {
	if n := len(*f); n > 0 {
		i := (*f)[n-1]
		*f = (*f)[:n-1]
		return i
	}
	return int32(next)
}

// deficits is the state of a pool under a deficit policy: for each dominant resource, the deficits of its children
// and the amount that they use.
type deficits struct {
	of   []*usage.Deficits
	runs []float64 // used by all children together
	keys []keys    // orders of the dominant resources after the first, see standApart
}

// dominants are the resources that dominate some key.
type dominants struct {
	resources []int     // the first is the unit
	capacity  []float64 // of each
	of        []int8    // by key: index into resources
	stale     bool      // the deficits must be recounted from scratch
	drifts    [][]int32 // by dominant resource after the first, and pool: index of its order
	ready     [][]int32 // by dominant resource, if there are several, and pool: number of ready sub-queues
	sole      int8      // the only free one in the present choice, from 1; 0: several, or none
}

// allotting is the additional state of a pool under an allotter.
type allotting struct {
	whole  int64 // slots that were divided into targets
	fresh  bool  // the targets match the present children and weights
	open   sum   // weights of the children with work that may start
	loaned sum   // slots that children have above their targets
	plan   plan
	over   time.Time // since when the spread exceeds the threshold; zero if it does not
	tried  time.Time // when no task was found that could be stopped
}

// plan is the number of slots that an allotter allotted to each child. It is valid until an event other than one of
// its own starts.
type plan struct {
	serial uint64  // event number when it was made; 0: none
	pinned bool    // made by a rebalancing, and valid until it is used up
	turns  []int32 // from a rebalancing: the children whose tasks start first, one entry per task
	order  []int32 // children with slots, in order of start
	left   []int64 // unused slots, by position among the children
}

func (p plan) clone() plan {
	p.turns, p.left = slices.Clone(p.turns), slices.Clone(p.left)
	return p
}

// standing is the place of a pool under a carrier before a change.
type standing struct {
	formula *why.Formula // of the policy
	weight  float64
	level   float64
}

// renewal is the next instant at which a [Renewer] wants the keys of its children recomputed. Renewers are called
// again only then, so that an event costs one comparison.
type renewal struct{ at time.Time } // the earliest of all pools; zero if there is none

// inQueue counts the tasks of a pool that wait in queues of nodes.
type inQueue struct {
	tasks int32
	units float64
}
