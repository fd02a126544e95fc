package sim

import (
	"math"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

// fluid is the tree of pools of the ideal scheduler, which divides the machine infinitely finely. It visits
// only the pools with a demand. It divides like [sched.View.Entitlements], which visits all pools.
type fluid struct {
	capacity float64 // the processors to divide: the part of the demand that can be in use
	nodes    []fluidNode
	leaf     []int32 // node by claim
	limited  bool    // some pool has a minimum or a maximum
	dividing []share.Claim
}

type fluidNode struct {
	parent int32
	claim  int32 // -1: a pool with children
	place  int32 // index among the parent's kids; -1: not among them
	fixed  bool  // counts for its siblings' shares also without a demand
	weight float64
	min    float64
	max    float64 // +Inf: none
	want   float64
	bounds share.Claim // in a tree with limits: guaranteed minimum and usable demand

	kids   []fluidKid // children with a demand
	level  float64    // of the last division
	counts float64    // weights of the children that count for shares
	rise   float64    // integral of the share of a child of weight 1

	share, mark float64 // of a claim: the integral of its share until the parent's rise was mark
}

// fluidKid keeps together the fields that divide reads.
type fluidKid struct {
	want, weight float64
	id, claim    int32
}

// newFluid makes the tree of all pools that the workload will need, as the configuration creates them.
func newFluid(w *Workload, cfg sched.Config, claims []claim) (*fluid, error) {
	core, err := sched.New(cfg, w.Zero, 0)
	if err != nil {
		return nil, err
	}
	var pools []sched.PoolID
	for _, path := range w.Pools {
		pools = append(pools, core.Pool(path))
	}
	f := &fluid{capacity: float64(w.Procs), leaf: make([]int32, len(claims))}
	unit := core.Cluster().Unit()
	for i := range core.Read().Pools() {
		id := sched.PoolID(i)
		n := fluidNode{parent: int32(core.Read().Parent(id)), claim: -1, place: -1, weight: core.View(id).Weight,
			max: math.Inf(1), fixed: core.Read().Configured(id)}
		if l, ok := core.Read().Limits(id); ok {
			n.min = float64(l.Min[unit])
			if most, ok := l.Max[unit]; ok {
				n.max = float64(most)
			}
			f.limited = f.limited || n.min > 0 || !math.IsInf(n.max, 1)
		}
		f.nodes = append(f.nodes, n)
	}
	f.nodes[0].parent = -1
	for i := range f.nodes[1:] {
		if n := &f.nodes[i+1]; n.fixed {
			f.nodes[n.parent].counts += n.weight
		}
	}
	users := make([]int, len(pools))
	for _, c := range claims {
		users[c.pool]++
	}
	for i, c := range claims {
		id := int32(pools[c.pool])
		if users[c.pool] > 1 || len(core.Read().Children(sched.PoolID(id))) > 0 {
			f.nodes = append(f.nodes, fluidNode{parent: id, place: -1, weight: 1, max: math.Inf(1)})
			id = int32(len(f.nodes) - 1)
		}
		f.nodes[id].claim = int32(i)
		f.leaf[i] = id
	}
	return f, nil
}

// want sets the number of processors that a claim can use, with its running and waiting jobs.
func (f *fluid) want(claim int32, procs float64) {
	more := procs - f.nodes[f.leaf[claim]].want
	for id := f.leaf[claim]; id >= 0; id = f.nodes[id].parent {
		n := &f.nodes[id]
		n.want += more
		if n.parent >= 0 && (n.want > 0) != (n.place >= 0) {
			f.turn(id)
		}
		if n.place >= 0 {
			f.nodes[n.parent].kids[n.place].want = n.want
		}
	}
}

// turn adds a node to the nodes with a demand, or removes it.
func (f *fluid) turn(id int32) {
	n := &f.nodes[id]
	p := &f.nodes[n.parent]
	if n.place < 0 {
		if !n.fixed {
			p.counts += n.weight
		}
		n.place, n.mark = int32(len(p.kids)), p.rise
		p.kids = append(p.kids, fluidKid{weight: n.weight, id: id, claim: n.claim})
		return
	}
	n.share += n.weight * (p.rise - n.mark)
	last := len(p.kids) - 1
	p.kids[n.place] = p.kids[last]
	f.nodes[p.kids[last].id].place = n.place
	p.kids = p.kids[:last]
	n.place = -1
	if !n.fixed {
		p.counts -= n.weight
	}
}

// fits reports whether the whole demand fits.
func (f *fluid) fits() bool { return !f.limited && f.nodes[0].want <= f.capacity }

// divide writes the entitlement of each claim that has a demand.
func (f *fluid) divide(rates []usage.Rate) {
	if f.limited {
		f.bound(0)
		f.pour(0, math.Min(f.capacity, f.nodes[0].bounds.Demand), rates)
		return
	}
	f.pour(0, math.Min(f.capacity, f.nodes[0].want), rates)
}

// bound computes the guaranteed minimum of a node, at most its usable demand, and its usable demand, both
// from those of its children.
func (f *fluid) bound(id int32) {
	n := &f.nodes[id]
	least, most := 0.0, n.want
	if n.claim < 0 {
		most = 0
		for _, kid := range n.kids {
			f.bound(kid.id)
			least += f.nodes[kid.id].bounds.Min
			most += f.nodes[kid.id].bounds.Demand
		}
	}
	most = math.Min(most, n.max)
	least = math.Min(math.Max(least, n.min), most)
	n.bounds = share.Claim{Weight: n.weight, Min: least, Max: most, Demand: most}
}

// pour divides the entitlement of a node among its children.
func (f *fluid) pour(id int32, due float64, rates []usage.Rate) {
	n := &f.nodes[id]
	switch {
	case n.claim >= 0:
		rates[n.claim].Ideal = due
		return
	case f.limited || !n.weighted():
		f.pourWithLimits(n, due, rates)
		return
	}
	level := n.levelFor(due)
	for i := range n.kids {
		kid := &n.kids[i]
		part := math.Min(kid.want, kid.weight*level)
		if kid.claim >= 0 {
			rates[kid.claim].Ideal = part
		} else {
			f.pour(kid.id, part, rates)
		}
	}
}

func (f *fluid) pourWithLimits(n *fluidNode, due float64, rates []usage.Rate) {
	from := len(f.dividing)
	for _, kid := range n.kids {
		if f.limited {
			f.dividing = append(f.dividing, f.nodes[kid.id].bounds)
		} else {
			f.dividing = append(f.dividing, share.Claim{Weight: kid.weight, Max: kid.want, Demand: kid.want})
		}
	}
	parts := share.Divide(due, f.dividing[from:])
	f.dividing = f.dividing[:from]
	for i, part := range parts {
		f.pour(n.kids[i].id, part, rates)
	}
}

// weighted reports whether all children with a demand have a weight.
func (n *fluidNode) weighted() bool {
	for i := range n.kids {
		if n.kids[i].weight <= 0 {
			return false
		}
	}
	return true
}

// levelFor returns the level L at which min(want, weight x L) add up to the amount due: the level of
// [share.Divide], for claims that have a weight and no limits. The sum is a concave, piecewise linear
// function of the level, so Newton steps along the present line reach the right line after a few steps. They
// begin at the level of the last division, because that is near.
func (n *fluidNode) levelFor(due float64) float64 {
	if due >= n.want {
		return math.Inf(1)
	}
	level := n.level
	for range len(n.kids) + 2 {
		full, weights := 0.0, 0.0 // of the satisfied children; of the others
		for i := range n.kids {
			if kid := &n.kids[i]; kid.want <= kid.weight*level {
				full += kid.want
			} else {
				weights += kid.weight
			}
		}
		if weights == 0 { // above the last bend
			level = 0
			continue
		}
		next := (due - full) / weights
		if next == level {
			break
		}
		level = next
	}
	n.level = level
	return level
}

// elapse adds up the shares that applied for some seconds. As in the live system, a configured pool counts
// among its siblings also without a demand.
func (f *fluid) elapse(seconds float64) {
	if seconds > 0 {
		f.raise(0, seconds)
	}
}

func (f *fluid) raise(id int32, seconds float64) {
	n := &f.nodes[id]
	if n.counts <= 0 || len(n.kids) == 0 {
		return
	}
	n.rise += seconds / n.counts
	for i := range n.kids {
		if kid := &n.kids[i]; kid.claim < 0 {
			f.raise(kid.id, seconds*kid.weight/n.counts)
		}
	}
}

// shareOf returns the integral of a claim's share over the seconds in which it had a demand.
func (f *fluid) shareOf(claim int) float64 {
	n := &f.nodes[f.leaf[claim]]
	if n.parent < 0 {
		return 0
	}
	if n.place >= 0 {
		return n.share + n.weight*(f.nodes[n.parent].rise-n.mark)
	}
	return n.share
}

// roomOf returns the maximum number of processors of a claim: the machine, or the smallest maximum of its
// pools.
func (f *fluid) roomOf(claim int32) int64 {
	room := f.capacity
	for id := f.leaf[claim]; id >= 0; id = f.nodes[id].parent {
		room = math.Min(room, f.nodes[id].max)
	}
	return int64(room)
}

// claim is a user in a pool.
type claim struct {
	user, pool int32
	wants      int64         // processors of running and waiting jobs
	packing    share.Packing // of the same jobs
	room       int64         // see [fluid.roomOf]
	has        int64         // of running jobs
	more       int64         // change of wants since the last settlement
	dirty      bool
}
