package cluster

import (
	"math"
	"slices"
)

// Plan is the free capacity of each node over time, as it will be if tasks end when they
// are planned to and what is reserved is used. Instants are whatever whole numbers the
// caller counts in; room that is taken up to [Forever] never comes back.
//
// Each node has an array of steps, as a reservation looks at many neighbouring steps and
// changes few (Feitelson and Weil, "Utilization and predictability in scheduling the IBM
// SP2 with backfilling", IPPS 1998, keep the same profile as a list).
type Plan struct {
	c      *Cluster
	lines  []timeline // by node
	common timeline   // of what belongs to no node
}

// Forever is later than everything.
const Forever = math.MaxInt64

// timeline is what is free on a node from each instant on, up to the next.
type timeline struct {
	wide int     // resources
	at   []int64 // ascending; the first is the beginning of the plan
	free []int64 // wide numbers for each instant
}

// NewPlan returns the plan from now on of a cluster of which nothing is taken, and of what
// is there in common for all nodes, as the caller numbers it.
func (c *Cluster) NewPlan(now int64, common Vector) *Plan {
	p := &Plan{c: c, lines: make([]timeline, len(c.nodes))}
	for i := range c.nodes {
		n := &c.nodes[i]
		l := &p.lines[i]
		l.wide = max(1, len(n.Capacity))
		l.at, l.free = []int64{now}, make([]int64, l.wide)
		if n.said == Up { // windows are asked about when room is looked for
			copy(l.free, n.Capacity)
		}
	}
	p.common = timeline{wide: max(1, len(common)), at: []int64{now}, free: make([]int64, max(1, len(common)))}
	copy(p.common.free, common)
	return p
}

// Clone returns a copy for a clone of the cluster.
func (p *Plan) Clone(c *Cluster) *Plan {
	q := &Plan{c: c, lines: slices.Clone(p.lines), common: p.common}
	for i := range q.lines {
		l := &q.lines[i]
		l.at, l.free = slices.Clone(l.at), slices.Clone(l.free)
	}
	q.common.at, q.common.free = slices.Clone(p.common.at), slices.Clone(p.common.free)
	return q
}

// Take occupies on a node what a task of the shape asks for, from an instant up to
// another.
func (p *Plan) Take(id NodeID, s Shape, from, to int64) { p.add(id, p.c.shapes[s].need, -1, from, to) }

// Give takes a Take back, in whole or for a part of the time.
func (p *Plan) Give(id NodeID, s Shape, from, to int64) { p.add(id, p.c.shapes[s].need, +1, from, to) }

func (p *Plan) add(id NodeID, v Vector, sign, from, to int64) { p.lines[id].add(v, sign, from, to) }

// AddCommon gives back what is there in common, or takes it if the amounts are below zero.
func (p *Plan) AddCommon(v Vector, from, to int64) { p.common.add(v, +1, from, to) }

// EarliestCommon returns the first instant from from on, and before before, from which on
// there is so much in common for length.
func (p *Plan) EarliestCommon(v Vector, length, from, before int64) (int64, bool) {
	return p.common.earliest(v, length, from, before, Forever)
}

func (l *timeline) add(v Vector, sign, from, to int64) {
	from = max(from, l.at[0])
	if from >= to {
		return
	}
	l.widen(len(v))
	i := l.step(from)
	k := len(l.at)
	if to < Forever {
		k = l.step(to)
	}
	for x := i; x < k; x++ {
		f := l.free[x*l.wide : x*l.wide+len(v)]
		for r, n := range v {
			f[r] += sign * n
		}
	}
	if k < len(l.at) {
		l.join(k)
	}
	l.join(i)
}

// widen makes room for further resources.
func (l *timeline) widen(n int) {
	if n <= l.wide {
		return
	}
	wider := make([]int64, n*len(l.at))
	for i := range l.at {
		copy(wider[i*n:], l.free[i*l.wide:(i+1)*l.wide])
	}
	l.wide, l.free = n, wider
}

// find is the step in which an instant lies, not before the first.
func (l *timeline) find(t int64) int {
	if len(l.at) < 2 || t < l.at[1] { // most questions are about now
		return 0
	}
	lo, hi := 1, len(l.at) // at[lo] <= t < at[hi]
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); l.at[mid] <= t {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// step returns the step that begins at the instant, which is made if need be.
func (l *timeline) step(t int64) int {
	i := l.find(t)
	if l.at[i] == t {
		return i
	}
	l.at = slices.Insert(l.at, i+1, t)
	if l.wide == 1 {
		l.free = slices.Insert(l.free, i+1, l.free[i])
	} else {
		l.free = slices.Insert(l.free, (i+1)*l.wide, l.free[i*l.wide:(i+1)*l.wide]...)
	}
	return i + 1
}

// join drops a step that is as the one before it.
func (l *timeline) join(i int) {
	if i == 0 || !slices.Equal(l.free[(i-1)*l.wide:i*l.wide], l.free[i*l.wide:(i+1)*l.wide]) {
		return
	}
	l.at = slices.Delete(l.at, i, i+1)
	l.free = slices.Delete(l.free, i*l.wide, (i+1)*l.wide)
}

// Advance drops what lies before now.
func (p *Plan) Advance(now int64) {
	for i := range p.lines {
		p.lines[i].advance(now)
	}
	p.common.advance(now)
}

func (l *timeline) advance(now int64) {
	if i := l.find(now); i > 0 {
		l.at = slices.Delete(l.at, 0, i)
		l.free = slices.Delete(l.free, 0, i*l.wide)
	}
	l.at[0] = max(l.at[0], now)
}

// Fits reports whether a task of the shape finds room on a node from an instant up to
// another.
func (p *Plan) Fits(id NodeID, s Shape, from, to int64) bool {
	l := &p.lines[id]
	need := p.c.shapes[s].need
	if p.c.asksWindows(s) && !p.c.OpenFor(id, s, from, to) {
		return false
	}
	for i := l.find(from); i < len(l.at) && l.at[i] < to; i++ {
		if !l.covers(i, need) {
			return false
		}
	}
	return true
}

func (l *timeline) covers(i int, need Vector) bool {
	if l.wide == 1 && len(need) == 1 {
		return l.free[i] >= need[0]
	}
	for r, n := range need {
		if n > 0 && (r >= l.wide || l.free[i*l.wide+r] < n) {
			return false
		}
	}
	return true
}

// Earliest returns the first instant from from on, and before before, at which a task of
// the shape finds room on some node for length, and that node, the first if there are
// several. A length that would pass Forever ends there.
func (p *Plan) Earliest(s Shape, length, from, before int64) (at int64, id NodeID, found bool) {
	return p.search(s, length, from, before, nowhere)
}

// Sooner looks for an instant from from on at which a task of the shape that has the room
// from at up to at+length, on the node, could begin instead: on the same node, where its
// own room counts as free, or on another.
func (p *Plan) Sooner(s Shape, length, from, at int64, id NodeID) (int64, NodeID, bool) {
	return p.search(s, length, from, at, id)
}

// nowhere is no node.
const nowhere NodeID = -1

// search finds the first instant before before at which there is room. On the node own the
// room from before on is the task's already.
func (p *Plan) search(s Shape, length, from, before int64, own NodeID) (at int64, id NodeID, found bool) {
	mine := before
	for i := range p.lines {
		if !p.c.Suits(NodeID(i), s) {
			continue
		}
		until := int64(Forever)
		if NodeID(i) == own {
			until = mine
		}
		if t, ok := p.earliestOn(NodeID(i), s, length, from, before, until); ok {
			at, id, found, before = t, NodeID(i), true, t
			if t == from {
				break
			}
		}
	}
	return at, id, found
}

// earliestOn is the earliest on a node, in a time in which it is open to the shape.
func (p *Plan) earliestOn(id NodeID, s Shape, length, from, before, until int64) (int64, bool) {
	l, need := &p.lines[id], p.c.shapes[s].need
	if !p.c.asksWindows(s) {
		return l.earliest(need, length, from, before, until)
	}
	for from < before {
		begin, last, end := p.c.openings(id, s, length, from, before)
		if begin < last {
			if t, ok := l.earliest(need, length, begin, last, until); ok {
				return t, true
			}
		}
		from = end
	}
	return 0, false
}

// earliest finds the first instant from from on, and before before, from which on there is
// what is needed for length, or until the instant from which on it is there anyway.
func (l *timeline) earliest(need Vector, length, from, before, until int64) (int64, bool) {
	t := max(from, l.at[0])
	for i := l.find(t); t < before; {
		if !l.covers(i, need) {
			if i++; i == len(l.at) {
				return 0, false
			}
			t = l.at[i]
			continue
		}
		k := l.short(i+1, min(add(t, length), until), need)
		if k < 0 {
			return t, true
		}
		i = k // too narrow there: whatever begins before it ends in it
	}
	return 0, false
}

// short is the first step from i on, and before end, that does not have what is needed;
// -1 if there is none.
func (l *timeline) short(i int, end int64, need Vector) int {
	for ; i < len(l.at) && l.at[i] < end; i++ {
		if !l.covers(i, need) {
			return i
		}
	}
	return -1
}

// add is the sum of an instant and a length, at most Forever.
func add(t, length int64) int64 {
	if t > Forever-length {
		return Forever
	}
	return t + length
}
