package cluster

import (
	"cmp"
	"slices"
)

// Where the tasks of a gang go, which start all at once. Nodes that have fewer resources
// which the tasks do not ask for go before others, as for a single task. Among these a gang
// is to be on few nodes, because its tasks talk to one another: as long as it does not fit
// on one, the node goes first that takes most of it, and the rest goes where it fits
// best. Tasks that each want a node of their own take the nodes that fit best.

// host is a node with how many tasks of a gang it could take.
type host struct {
	candidate
	tasks int
	last  bool // behind others with as few other resources
}

// place appends a node for each of n tasks, for which there is room on the hosts.
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

// hosts are the nodes that could take tasks of a gang. of says of each how many, what it has
// of the scarce resource, and whether it is taken last.
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

// order puts last nodes behind the others.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// fullest is the node that takes as many of n tasks as any of those with the fewest other
// resources; the first, if several do.
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

// roomForGang reports whether a gang fits now. That it did not is remembered until
// something is given back.
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

// fitNow is how many tasks with a key fit now, or some number that is at least enough.
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
