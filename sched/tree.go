package sched

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// tree is the tree of pools, with the running and waiting tasks of each, and their limits.
type tree struct {
	site *site

	queued    map[int32]inQueue // by pool
	days      usage.Diaries     // service by days, see Pool.Days
	daysBegan bool              // see daysKept
	// allots means that some pool has a policy that allots.
	allots      bool
	rebalancers []int32 // pools whose allotter stops tasks
	pools       []Pool
	labels      []label
	inners      []inner
	limited     []limit
	apart       bool // a minimum counts a resource other than the unit
	index       map[childKey]int32
	lent        bool // copies read labels and index, see ownNames
	renewal     renewal
}

// Lookup returns the number of the pool at path, if there is one.
func (t *tree) Lookup(path string) (PoolID, bool) {
	id := int32(Root)
	if path == "" {
		return Root, true
	}
	for name := range strings.SplitSeq(path, "/") {
		next, ok := t.index[childKey{id, name, named}]
		if !ok {
			return 0, false
		}
		id = next
	}
	return PoolID(id), true
}

// Path is the pool's path; the root's is empty. A priority class has the path of its leaf pool.
func (t *tree) Path(id PoolID) string {
	var names []string
	for i := int32(id); i != int32(Root); i = t.pools[i].parent {
		if t.labels[i].kind == named {
			names = append(names, t.labels[i].name)
		}
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, "/")
}

func (t *tree) parentOf(id int32) *inner {
	return &t.inners[t.pools[t.pools[id].parent].inner]
}

func (t *tree) inAbove(id int32) *inner {
	if id == int32(Root) {
		return nil
	}
	return t.parentOf(id)
}

// childAbove is the child of a pool on the path to another pool; -1 if the other pool is not below it.
func (t *tree) childAbove(parent, id int32) int32 {
	for ; id >= 0; id = t.pools[id].parent {
		if t.pools[id].parent == parent {
			return id
		}
	}
	return -1
}

// within reports whether the pool id is the other given pool, or below that pool.
func (t *tree) within(id, above int32) bool {
	for ; id >= 0; id = t.pools[id].parent {
		if id == above {
			return true
		}
	}
	return false
}

// named is the pool of the configured tree that a leaf pool belongs to: itself or, for a priority class, the pool
// of that class.
func (t *tree) named(id int32) int32 {
	for t.labels[id].kind == priorityClass {
		id = t.pools[id].parent
	}
	return id
}

// banded reports whether the pool is a leaf pool with priority classes.
func (t *tree) banded(id int32) bool {
	in := t.pools[id].inner
	return in >= 0 && len(t.inners[in].kids) > 0 && t.labels[t.inners[in].kids[0]].kind == priorityClass
}

// upwards calls f for each pool below a pool, with its parent, children before their parents.
func (t *tree) upwards(id int32, f func(kid, above int32)) {
	in := t.pools[id].inner
	if in < 0 {
		return
	}
	for _, kid := range t.inners[in].kids {
		t.upwards(kid, f)
		f(kid, id)
	}
}

// ownNames copies labels and index before a change, if copies of the scheduler read them.
func (t *tree) ownNames() {
	if t.lent {
		t.labels, t.index, t.lent = slices.Clone(t.labels), maps.Clone(t.index), false
	}
}

// policyOf is the policy of a pool: its own, or that of the nearest pool above that
// names one.
func (t *tree) policyOf(id int32) Policy {
	for t.labels[id].policy == "" && id != int32(Root) {
		id = t.pools[id].parent
	}
	return t.labels[id].made
}

// ranked reports whether a leaf pool serves its jobs by their own priorities.
func (t *tree) ranked(id int32) bool {
	_, yes := t.policyOf(id).(Ranker)
	return yes
}

// strict reports whether a leaf pool serves its jobs in order of arrival only.
func (t *tree) strict(id int32) bool {
	switch t.policyOf(id).(type) {
	case byArrival, Ranker:
		return true
	}
	return false
}

// byArrivalOnly reports whether the order of the waiting jobs never changes.
func (t *tree) byArrivalOnly() bool {
	for i := range t.inners {
		if _, yes := t.inners[i].policy.(byArrival); !yes {
			return false
		}
	}
	return true
}

// copyDown gives a child the waiting tasks and the mean of its parent. Running tasks stay with the parent.
func (t *tree) copyDown(parent, child int32) {
	p, c := &t.pools[parent], &t.pools[child]
	c.Waiting, c.First = p.Waiting, p.First
	c.Mean, c.Seen = p.Mean, p.Seen
}

// limits returns the limits of a pool, nil if it has none.
func (t *tree) limits(id int32) *limit {
	if l := t.pools[id].limit; l >= 0 {
		return &t.limited[l]
	}
	return nil
}

// jobRunning is the tightest limit on tasks of one job in a leaf pool and the pools above it.
func (t *tree) jobRunning(leaf int32) int32 {
	most := int32(0)
	for id := leaf; id >= 0; id = t.pools[id].parent {
		if l := t.limits(id); l != nil {
			most = tighter(most, l.jobRunning)
		}
	}
	return most
}

// admits reports whether a pool's limits allow the next task, or gang, of a sub-queue.
func (t *tree) admits(l *limit, pool int32, key cluster.Key) bool {
	n := t.site.atOnce(key)
	if !l.admits(t.site.cluster.Request(key), n) {
		return false
	}
	return (l.tasks == 0 || int64(t.pools[pool].Tasks)+n <= int64(l.tasks)) && (l.jobRunning == 0 ||
		n <= int64(l.jobRunning))
}

// fullFor is the first pool on the path up whose limits a task with the key, or a gang, would exceed; -1 if there
// is none.
func (t *tree) fullFor(id int32, key cluster.Key) int32 {
	for ; id >= 0; id = t.pools[id].parent {
		if l := t.limits(id); l != nil && !t.admits(l, id, key) {
			return id
		}
	}
	return -1
}

// pathFull reports whether a pool on the path up is at its maximum for every request.
func (t *tree) pathFull(id int32) bool {
	for ; id >= 0; id = t.pools[id].parent {
		if l := t.limits(id); l != nil && l.full(t.pools[id].Tasks) {
			return true
		}
	}
	return false
}

// rootFull reports whether the root is at its maximum.
func (t *tree) rootFull() bool {
	l := t.limits(int32(Root))
	return l != nil && l.full(t.pools[Root].Tasks)
}

// openAbove reports whether the pool and all pools above it have work that may start.
func (t *tree) openAbove(id int32) bool {
	for ; id != int32(Root); id = t.pools[id].parent {
		if !t.pools[id].seat.in {
			return false
		}
	}
	return true
}

// counts reports whether a pool counts among its siblings for their shares.
func (t *tree) counts(id int32) bool { return t.pools[id].counts() }

// compared is the pool that compares the jobs of a pool with other jobs: the highest pool above it with only
// rankers in between.
func (t *tree) compared(id int32) int32 {
	for at := t.pools[id].parent; at >= 0 && t.inners[t.pools[at].inner].ranks; at = t.pools[at].parent {
		id = at
	}
	return id
}

// changed updates the pool above after the waiting or running tasks of a pool changed.
func (t *tree) changed(id int32) {
	p := &t.pools[id]
	if counts := p.counts(); counts != p.counted {
		t.recount(id, counts)
	}
	if t.allots && p.parent >= 0 {
		if in := t.parentOf(id); in.as.allot != nil {
			t.owe(in, p)
		}
	}
}

func (t *tree) recount(id int32, counts bool) {
	p := &t.pools[id]
	p.counted = counts
	if p.parent < 0 {
		return
	}
	sign := 1.0
	if !counts {
		sign = -1
	}
	t.parentOf(id).counted.add(sign * p.Weight)
}

// owe updates the sum of the loans.
func (t *tree) owe(in *inner, p *Pool) {
	if over := math.Max(0, p.Running-p.Target); over != p.over {
		in.allotting.loaned.add(over - p.over)
		p.over = over
	}
}

func (t *tree) remember() []standing {
	before := make([]standing, len(t.pools))
	for i := 1; i < len(t.pools); i++ {
		if in := t.parentOf(int32(i)); in.as.carrier != nil {
			p := &t.pools[i]
			before[i] = standing{in.policy.Formula(), p.Weight, in.as.carrier.Level(p, t.site.now)}
		}
	}
	return before
}

// carry lets pools keep their level if their weight changed, and restarts the levels under a new carrier.
func (t *tree) carry(before []standing) {
	for i := 1; i < len(t.pools); i++ {
		p, in := &t.pools[i], t.parentOf(int32(i))
		if in.as.carrier == nil {
			continue
		}
		switch {
		case i >= len(before): // a new pool joins like one that was away
			in.as.carrier.Carry(p, in.clock, t.site.now)
		case before[i].formula != in.policy.Formula():
			in.clock = 0
			in.as.carrier.Carry(p, 0, t.site.now)
		case before[i].weight != p.Weight:
			in.as.carrier.Carry(p, before[i].level, t.site.now)
		}
	}
}
