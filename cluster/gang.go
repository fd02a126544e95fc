package cluster

import (
	"cmp"
	"slices"
)

// This file chooses nodes for the tasks of a gang, which start at the same moment. As for a single task, nodes with
// the fewest resources that the tasks do not ask for go first. Among these the gang should use few nodes, because
// its tasks communicate. As long as the rest of the gang does not fit on one node, the node that takes the largest
// part of it goes first. The last part goes to the node where it fits best. Tasks that need separate nodes take the
// nodes that fit best.

// host is a node with the number of tasks of a gang that it could take.
type host struct {
	candidate
	tasks int
	last  bool // goes behind other hosts with equally few other resources
}

// place appends a node for each of n tasks. The hosts must have room for all of them.
func place(hosts []host, n int, spread bool, to []NodeID) []NodeID {
	slices.SortFunc(hosts, func(a, b host) int {
		return cmp.Or(cmp.Compare(a.extra, b.extra), order(a.last, b.last),
			cmp.Compare(a.free, b.free), cmp.Compare(a.id, b.id))
	})
	for n > 0 {
		h := &hosts[0]
		if !spread {
			h = fullest(hosts, n)
		}
		for range min(n, h.tasks) {
			to = append(to, h.id)
			n--
		}
		if h.tasks = 0; spread {
			hosts = hosts[1:]
		}
	}
	return to
}

// hosts returns the nodes that could take tasks of a gang. For each node, of returns how many tasks it could take,
// its free amount of the scarce resource, and whether the node goes last.
func (f *fleet) hosts(req *request, of func(NodeID) (tasks int, free int64, last bool)) (hosts []host) {
	f.refresh(req)
	for i := range f.nodes {
		id := NodeID(i)
		tasks, free, last := of(id)
		if req.spread {
			tasks = min(tasks, 1)
		}
		if tasks > 0 {
			extra := f.classes.all[f.nodes[i].class].extra(req.need)
			hosts = append(hosts, host{candidate{true, extra, free, id}, tasks, last})
		}
	}
	return hosts
}

func total(hosts []host) (tasks int) {
	for i := range hosts {
		tasks += hosts[i].tasks
	}
	return tasks
}

// order sorts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// fullest returns the host that takes the largest part of n tasks, among the hosts with the fewest other resources;
// the first of several.
func fullest(hosts []host, n int) *host {
	var best *host
	for i := range hosts {
		h := &hosts[i]
		switch {
		case h.tasks == 0:
		case best == nil:
			best = h
		case h.extra > best.extra || h.last && !best.last:
			return best
		case min(h.tasks, n) > min(best.tasks, n):
			best = h
		}
	}
	return best
}

// roomForGang reports whether a gang fits now. It remembers a failure until a node becomes freer.
func (f *fleet) roomForGang(req *request) bool {
	f.refresh(req)
	if recent, known := f.given.since(req.failed); known && len(recent) == 0 && len(f.nodes) > 1 {
		return false
	}
	left := int(req.gang)
	if len(f.nodes) == 1 {
		if f.fits(0, req) {
			left -= req.perNode(f.nodes[0].Free)
		}
	} else {
		left -= f.fitNow(req, left)
	}
	if left > 0 {
		req.failed = f.given.end()
		return false
	}
	req.failed = -1
	return true
}

// fitNow counts the tasks with a key that fit now; it may stop counting once there are enough.
func (f *fleet) fitNow(req *request, enough int) (tasks int) {
	if !f.groups.made {
		f.makeGroups()
	}
	for _, k := range req.suits {
		for _, g := range f.classes.all[k.class].groups {
			x := &f.groups.all[g]
			if tasks += len(x.ids) * req.perNode(x.free); tasks >= enough {
				return tasks
			}
		}
	}
	return tasks
}
