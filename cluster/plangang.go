package cluster

import (
	"cmp"
	"slices"
)

// Holds is the number of tasks with the key that find room on a node throughout [from, to).
func (p *Plan) Holds(id NodeID, s Key, from, to int64) int {
	l, req := &p.lines[id], &p.c.requests.all[s]
	least := -1
	if !p.open(id, req, from, to) {
		return 0
	}
	for i := l.find(from); i < len(l.at) && l.at[i] < to && least != 0; i++ {
		if n := l.freeIn(i).holds(req.need); least < 0 || n < least {
			least = n
		}
	}
	return max(0, least)
}

// freeIn returns the free resources in a step.
func (l *timeline) freeIn(i int) Vector { return l.free[i*l.wide : (i+1)*l.wide] }

// EarliestGang returns the first instant in [from, before) at which all tasks of a gang find room for a length of
// time, and appends one node per task to the list.
func (p *Plan) EarliestGang(s Key, length, from, before int64, to []NodeID) (int64, []NodeID, bool) {
	req, have := &p.c.requests.all[s], 0
	changes := p.changes(s, length, from, before)
	for i := range changes {
		have += changes[i].by
		if last := i+1 == len(changes) || changes[i+1].at > changes[i].at; last && have >= int(req.gang) {
			at := changes[i].at
			return at, place(p.hosts(s, at, add(at, length)), int(req.gang), req.spread, to), true
		}
	}
	return 0, to, false
}

// change is an instant at which the number of tasks that could begin, and run for their whole length, changes.
type change struct {
	at int64
	by int
}

// changes lists the changes for a key on all nodes, in ascending order.
func (p *Plan) changes(s Key, length, from, before int64) (all []change) {
	req := &p.c.requests.all[s]
	most := int(req.gang)
	if req.spread {
		most = 1
	}
	for i := range p.lines {
		if req.suitsNode(&p.c.fleet.nodes[i]) {
			all = p.changesOn(NodeID(i), req, most, length, from, before, all)
		}
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return all
}

// changesOn appends the changes on one node, restricted to times when the node is open to the key.
func (p *Plan) changesOn(id NodeID, req *request, most int, length, from, before int64, to []change) []change {
	l, node := &p.lines[id], &p.c.fleet.nodes[id]
	if !p.c.windows.concern(req.window) {
		return l.changes(req.need, most, length, from, before, to)
	}
	for from < before {
		begin, last, end := node.openings(req.window, length, from, before)
		if begin < last {
			n, have := len(to), 0
			to = l.changes(req.need, most, length, begin, last, to)
			for _, x := range to[n:] {
				have += x.by
			}
			if last < before && have > 0 {
				to = append(to, change{last, -have})
			}
		}
		from = end
	}
	return to
}

// changes appends the changes on one node. A task that begins at t runs through all steps between the step of t and
// the last step before t+length, and the narrowest of these steps decides. The list low has the steps that are
// narrower than all later steps, in ascending order.
func (l *timeline) changes(need Vector, most int, length, from, before int64, to []change) []change {
	type narrow struct{ step, tasks int }
	var low []narrow
	t := max(from, l.at[0])
	first := l.find(t) // the step of t
	next, was := first, 0
	for t < before {
		for ; next < len(l.at) && l.at[next] < add(t, length); next++ {
			n := narrow{next, min(most, l.freeIn(next).holds(need))}
			for len(low) > 0 && low[len(low)-1].tasks >= n.tasks {
				low = low[:len(low)-1]
			}
			low = append(low, n)
		}
		for low[0].step < first {
			low = low[1:]
		}
		if now := low[0].tasks; now != was {
			to, was = append(to, change{t, now - was}), now
		}
		if first+1 == len(l.at) {
			break
		}
		t = l.at[first+1]
		if next < len(l.at) {
			t = min(t, l.at[next]-length+1)
		}
		if t == l.at[first+1] {
			first++
		}
	}
	return to
}

// hosts returns the nodes that could take tasks of a gang throughout [from, to). Nodes with the least free
// resources at the start of the plan go first, because room that is already free is more useful to other jobs until
// then.
func (p *Plan) hosts(s Key, from, to int64) []host {
	req := &p.c.requests.all[s]
	return p.c.fleet.hosts(req, func(id NodeID) (int, int64, bool) {
		if !req.suitsNode(&p.c.fleet.nodes[id]) {
			return 0, 0, false
		}
		l := &p.lines[id]
		return p.Holds(id, s, from, to), l.freeIn(l.find(p.now)).at(req.scarce), false
	})
}
