package cluster

import (
	"cmp"
	"slices"
)

// Where the tasks of a gang go, which start all at once. Nodes that have fewer resources
// which the tasks do not ask for go before others, as for a single task. Among these a gang
// is to be on few nodes, because its tasks talk to one another: as long as it does not fit
// on one, the node goes first that takes most of it, and what is left goes where it fits
// best. Tasks that each want a node of their own take the nodes that fit best.

// host is a node with how many tasks of a gang it could take.
type host struct {
	candidate
	tasks int
	last  bool // behind others with as few other resources
}

// PlaceGang finds nodes for all tasks of a gang, and appends one for each task to a list.
// Without room, a node takes as many as fit on it now; with room, at most as many as that
// says; nodes of which it says so are taken last. It reports false if there is no room for all.
func (c *Cluster) PlaceGang(s Shape, room func(NodeID) (tasks int, last bool), to []NodeID) ([]NodeID, bool) {
	if !c.Room(s) {
		return to, false
	}
	n, spread := c.Gang(s)
	hosts := c.hosts(s, func(id NodeID, sh *shape) (tasks int, free int64, last bool) {
		if !c.Fits(id, s) {
			return 0, 0, false
		}
		free, tasks = c.nodes[id].Free.at(sh.scarce), c.nodes[id].Free.holds(sh.need)
		if room != nil {
			var most int
			most, last = room(id)
			tasks = min(tasks, most)
		}
		return tasks, free, last
	})
	if total(hosts) < n {
		return to, false
	}
	return place(hosts, n, spread, to), true
}

// place appends a node for each of n tasks, for which there is room on the hosts.
func place(hosts []host, n int, spread bool, to []NodeID) []NodeID {
	slices.SortFunc(hosts, func(a, b host) int {
		return cmp.Or(cmp.Compare(a.extra, b.extra), order(a.last, b.last), cmp.Compare(a.free, b.free), cmp.Compare(a.id, b.id))
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
func (c *Cluster) hosts(s Shape, of func(NodeID, *shape) (tasks int, free int64, last bool)) (hosts []host) {
	sh := &c.shapes[s]
	if sh.version != c.classes.version {
		c.suiting(sh)
	}
	for i := range c.nodes {
		id := NodeID(i)
		tasks, free, last := of(id, sh)
		if sh.spread {
			tasks = min(tasks, 1)
		}
		if tasks > 0 {
			extra := c.classes.all[c.nodes[i].class].extra(sh.need)
			hosts = append(hosts, host{candidate{true, extra, free, id}, tasks, last})
		}
	}
	return hosts
}

// FitNow is how many tasks of the shape fit on a node now.
func (c *Cluster) FitNow(id NodeID, s Shape) int {
	if !c.Fits(id, s) {
		return 0
	}
	return c.shapes[s].perNode(c.nodes[id].Free)
}

// FitEver is how many tasks of the shape would fit on a node, in the state in which it is, if
// nothing ran there.
func (c *Cluster) FitEver(id NodeID, s Shape) int {
	if !c.Suits(id, s) {
		return 0
	}
	return c.shapes[s].perNode(c.nodes[id].Capacity)
}

// FitAway is [Cluster.FitEver] as if the node were up.
func (c *Cluster) FitAway(id NodeID, s Shape) int { return c.shapes[s].perNode(c.nodes[id].Capacity) }

func total(hosts []host) (tasks int) {
	for i := range hosts {
		tasks += hosts[i].tasks
	}
	return tasks
}

// order puts what is last behind what is not.
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

// holds is how many tasks fit into what is free.
func (v Vector) holds(need Vector) int {
	n := int64(-1)
	for r, a := range need {
		if a <= 0 {
			continue
		}
		if k := max(0, v.at(r)) / a; n < 0 || k < n {
			n = k
		}
	}
	return int(max(0, n))
}

// roomForGang reports whether a gang fits now. That it did not is remembered until
// something is given back.
func (c *Cluster) roomForGang(s Shape) bool {
	sh := &c.shapes[s]
	if sh.version != c.classes.version {
		c.suiting(sh)
	}
	if recent, known := c.given.since(sh.failed); known && len(recent) == 0 && len(c.nodes) > 1 {
		return false
	}
	left := int(sh.gang)
	if len(c.nodes) == 1 {
		if c.Fits(0, s) {
			left -= sh.perNode(c.nodes[0].Free)
		}
	} else {
		left -= c.fitNow(sh, left)
	}
	if left > 0 {
		sh.failed = c.given.end()
		return false
	}
	sh.failed = -1
	return true
}

// fitNow is how many tasks of a shape fit now, or some number that is at least enough.
func (c *Cluster) fitNow(sh *shape, enough int) (tasks int) {
	if !c.groups.made {
		c.makeGroups()
	}
	for _, k := range sh.suits {
		for _, g := range c.classes.all[k.class].groups {
			x := &c.groups.all[g]
			if tasks += len(x.ids) * sh.perNode(x.free); tasks >= enough {
				return tasks
			}
		}
	}
	return tasks
}

// perNode is how many tasks a node takes on which so much is free.
func (sh *shape) perNode(free Vector) int {
	n := free.holds(sh.need)
	if sh.spread {
		n = min(n, 1)
	}
	return n
}
