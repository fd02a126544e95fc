package cluster

import (
	"slices"
)

// Plan is the free capacity of each node over time, if tasks end as planned and reservations are used. The caller
// chooses the unit of instants, which are integers; room taken up to [Forever] never comes back.
//
// Each node has an array of steps, because a reservation reads many neighboring steps and changes few. (Feitelson
// and Weil keep the same profile as a list: "Utilization and predictability in scheduling the IBM SP2 with
// backfilling", IPPS 1998.)
type Plan struct {
	c      *Cluster
	lines  []timeline // by node
	common timeline   // of amounts that belong to no node
	now    int64      // earlier steps are dropped when a timeline changes
}

// timeline holds the free resources of a node in each step, from its instant up to the next.
type timeline struct {
	wide int     // number of resources
	at   []int64 // ascending; the first is the start of the plan
	free []int64 // wide numbers per instant
	lent bool    // a clone of the plan reads it, too: copy it before changing it
}

// NewPlan returns the plan of an empty cluster from now on. The argument common has the amounts that belong to no
// node, such as licenses, as the caller numbers them.
func (c *Cluster) NewPlan(now int64, common Vector) *Plan {
	p := &Plan{c: c, lines: make([]timeline, len(c.fleet.nodes)), now: now}
	for i := range c.fleet.nodes {
		n := &c.fleet.nodes[i]
		l := &p.lines[i]
		l.wide = max(1, len(n.Capacity))
		l.at, l.free = []int64{now}, make([]int64, l.wide)
		if n.said == Up { // windows are checked at each search for room
			copy(l.free, n.Capacity)
		}
	}
	p.common = timeline{wide: max(1, len(common)), at: []int64{now}, free: make([]int64, max(1, len(common)))}
	copy(p.common.free, common)
	return p
}

// Clone returns a copy of the plan for a clone of the cluster.
func (p *Plan) Clone(c *Cluster) *Plan {
	for i := range p.lines {
		p.lines[i].lent = true
	}
	p.common.lent = true
	return &Plan{c: c, lines: slices.Clone(p.lines), common: p.common, now: p.now}
}

// Take occupies the resources of a task with the key on a node, throughout [from, to).
func (p *Plan) Take(id NodeID, s Key, from, to int64) {
	p.add(id, p.c.requests.all[s].need, -1, from, to)
}

// Give undoes a Take, entirely or for a part of its time.
func (p *Plan) Give(id NodeID, s Key, from, to int64) {
	p.add(id, p.c.requests.all[s].need, +1, from, to)
}

func (p *Plan) add(id NodeID, v Vector, sign, from, to int64) {
	p.lines[id].add(v, sign, from, to, p.now)
}

// AddCommon frees common amounts, or takes them if they are negative.
func (p *Plan) AddCommon(v Vector, from, to int64) { p.common.add(v, +1, from, to, p.now) }

// EarliestCommon returns the first instant in [from, before) at which the common amounts are free for length.
func (p *Plan) EarliestCommon(v Vector, length, from, before int64) (int64, bool) {
	return p.common.earliest(v, length, from, before, Forever)
}

func (l *timeline) add(v Vector, sign, from, to, now int64) {
	if from = max(from, now); from >= to {
		return
	}
	if l.lent {
		l.at, l.free, l.lent = slices.Clone(l.at), slices.Clone(l.free), false
	}
	l.advance(now)
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

// widen makes room for more resources.
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

// find returns the step that contains an instant, or the first step if the instant is earlier.
func (l *timeline) find(t int64) int {
	if len(l.at) < 2 || t < l.at[1] { // most searches begin with the present
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

// step returns the step that begins at the instant, and creates it if necessary.
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

// join drops a step that equals the one before it.
func (l *timeline) join(i int) {
	if i == 0 || !slices.Equal(l.free[(i-1)*l.wide:i*l.wide], l.free[i*l.wide:(i+1)*l.wide]) {
		return
	}
	l.at = slices.Delete(l.at, i, i+1)
	l.free = slices.Delete(l.free, i*l.wide, (i+1)*l.wide)
}

// Advance moves the start of the plan to the instant now: earlier steps are no longer needed.
func (p *Plan) Advance(now int64) { p.now = max(p.now, now) }

func (l *timeline) advance(now int64) {
	if i := l.find(now); i > 0 {
		l.at = slices.Delete(l.at, 0, i)
		l.free = slices.Delete(l.free, 0, i*l.wide)
	}
	l.at[0] = max(l.at[0], now)
}

// Fits reports whether a task with the key finds room on a node throughout [from, to).
func (p *Plan) Fits(id NodeID, s Key, from, to int64) bool {
	l, req := &p.lines[id], &p.c.requests.all[s]
	if !p.open(id, req, from, to) {
		return false
	}
	for i := l.find(from); i < len(l.at) && l.at[i] < to; i++ {
		if !l.covers(i, req.need) {
			return false
		}
	}
	return true
}

// open reports whether the windows let tasks with the key use a node throughout [from, to).
func (p *Plan) open(id NodeID, req *request, from, to int64) bool {
	return !p.c.windows.concern(req.window) || p.c.fleet.nodes[id].OpenFor(req.window, from, to)
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

// Earliest returns the first instant in [from, before) at which a task with the key finds room on some node for
// length, and the first such node. A time span that would go beyond Forever ends at Forever.
func (p *Plan) Earliest(s Key, length, from, before int64) (at int64, id NodeID, found bool) {
	return p.search(s, length, from, before, nowhere)
}

// Sooner looks for a start in [from, at) for a task with the key whose room is [at, at+length) on the node id. The
// room of the task itself on that node counts as free.
func (p *Plan) Sooner(s Key, length, from, at int64, id NodeID) (int64, NodeID, bool) {
	return p.search(s, length, from, at, id)
}

// SoonerOn is Sooner on the node id only, for a task whose own room is on another given node.
func (p *Plan) SoonerOn(id NodeID, s Key, length, from, at int64, own NodeID) (int64, bool) {
	req, until := &p.c.requests.all[s], int64(Forever)
	if id == own {
		until = at
	}
	if !req.suitsNode(&p.c.fleet.nodes[id]) {
		return 0, false
	}
	return p.earliestOn(id, req, length, from, at, until)
}

// nowhere stands for no node.
const nowhere NodeID = -1

// search finds the first instant in [from, before) with room for length. On the task's own node, the room from the
// instant before on already belongs to the task.
func (p *Plan) search(s Key, length, from, before int64, own NodeID) (at int64, id NodeID, found bool) {
	mine, req := before, &p.c.requests.all[s]
	for i := range p.lines {
		if !req.suitsNode(&p.c.fleet.nodes[i]) {
			continue
		}
		until := int64(Forever)
		if NodeID(i) == own {
			until = mine
		}
		if t, ok := p.earliestOn(NodeID(i), req, length, from, before, until); ok {
			at, id, found, before = t, NodeID(i), true, t
			if t == from {
				break
			}
		}
	}
	return at, id, found
}

// earliestOn is earliest on a node, restricted to times when the node is open to the key.
func (p *Plan) earliestOn(id NodeID, req *request, length, from, before, until int64) (int64, bool) {
	l, n := &p.lines[id], &p.c.fleet.nodes[id]
	if !p.c.windows.concern(req.window) {
		return l.earliest(req.need, length, from, before, until)
	}
	for from < before {
		begin, last, end := n.openings(req.window, length, from, before)
		if begin < last {
			if t, ok := l.earliest(req.need, length, begin, last, until); ok {
				return t, true
			}
		}
		from = end
	}
	return 0, false
}

// earliest finds the first instant in [from, before) at which the needed amounts are free for the length, or at
// least up to the instant until. After that instant they are free anyway.
func (l *timeline) earliest(need Vector, length, from, before, until int64) (int64, bool) {
	if l.wide == 1 && len(need) == 1 {
		return l.earliestOfOne(need[0], length, from, before, until)
	}
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
		i = k // a task that begins before step k would run into it
	}
	return 0, false
}

// earliestOfOne is earliest for a single resource.
func (l *timeline) earliestOfOne(need, length, from, before, until int64) (int64, bool) {
	at, free := l.at, l.free[:len(l.at)]
	t := max(from, at[0])
	for i := l.find(t); t < before; {
		if free[i] < need {
			if i++; i == len(at) {
				return 0, false
			}
			t = at[i]
			continue
		}
		end, k := min(add(t, length), until), i+1
		for k < len(at) && at[k] < end && free[k] >= need {
			k++
		}
		if k == len(at) || at[k] >= end {
			return t, true
		}
		i = k // a task that begins before step k would run into it
	}
	return 0, false
}

// short returns the first step in [i, end) that lacks a needed amount; -1 if there is none.
func (l *timeline) short(i int, end int64, need Vector) int {
	for ; i < len(l.at) && l.at[i] < end; i++ {
		if !l.covers(i, need) {
			return i
		}
	}
	return -1
}

// add adds a length to an instant; the sum is at most Forever.
func add(t, length int64) int64 {
	if t > Forever-length {
		return Forever
	}
	return t + length
}
