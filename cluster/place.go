package cluster

// Where a task goes. Of the nodes on which it fits now, the best is the one that
//
//  1. has the fewest resources that the task does not ask for: GPUs are spared for tasks
//     that want them, and those of a type for tasks that want this type;
//  2. is left with the least of the resource that is scarce for the task, which is the one
//     of which it asks for the largest part of what the nodes have: small gaps are filled
//     first, so that large ones stay for large tasks;
//  3. joined first.
//
// That a shape fitted nowhere is remembered, with the place in a log of the nodes to which
// something was given since. Only on these it can fit now, so only these are looked at.

// given is the log of nodes that became freer, or took tasks again, or changed.
type given struct {
	first int // number of the first entry
	ids   []NodeID
}

// givenMost bounds the log. What failed before its first entry is looked for everywhere.
const givenMost = 4096

func (l *given) end() int { return l.first + len(l.ids) }

// since are the nodes from an entry on; false if they are not known any more.
func (l *given) since(at int) ([]NodeID, bool) {
	if at < l.first {
		return nil, false
	}
	return l.ids[at-l.first:], true
}

func (c *Cluster) give(id NodeID) {
	l := &c.given
	if len(c.nodes) == 1 { // nothing is looked up in the log, and what failed before is not known to
		l.first++
		return
	}
	if len(l.ids) == givenMost {
		l.first += givenMost / 2
		l.ids = append(l.ids[:0], l.ids[givenMost/2:]...)
	}
	l.ids = append(l.ids, id)
}

// Fits reports whether a task of the shape fits on the node now, for however short a time.
func (c *Cluster) Fits(id NodeID, s Shape) bool {
	n, sh := &c.nodes[id], &c.shapes[s]
	return n.State == Up && n.Free.Covers(sh.need) && (len(sh.must) == 0 || sh.must.Allows(n.Labels)) && n.opens(sh.window, c.windows.now)
}

// Suits reports whether a task of the shape would fit on the node, in the state in which
// it is, if nothing ran there and no window began.
func (c *Cluster) Suits(id NodeID, s Shape) bool {
	n, sh := &c.nodes[id], &c.shapes[s]
	return n.said == Up && n.Capacity.Covers(sh.need) && sh.must.Allows(n.Labels)
}

// SuitsElsewhere reports of a node that takes tasks from another scheduler whether a task of
// the shape would fit there if nothing ran, and whether it fits now.
func (c *Cluster) SuitsElsewhere(id NodeID, s Shape) (ever, now bool) {
	n, sh := &c.nodes[id], &c.shapes[s]
	if n.State != Elsewhere || !sh.must.Allows(n.Labels) {
		return false, false
	}
	return n.Capacity.Covers(sh.need), n.Free.Covers(sh.need) && n.opens(sh.window, c.windows.now)
}

// Room reports whether a task of the shape fits somewhere now, or the whole of a gang.
func (c *Cluster) Room(s Shape) bool {
	if c.shapes[s].gang > 0 {
		return c.roomForGang(s)
	}
	if len(c.nodes) == 1 {
		return c.Fits(0, s)
	}
	if len(c.nodes) > 0 && c.Fits(c.shapes[s].last, s) {
		return true
	}
	_, ok := c.Place(s)
	return ok
}

// Place finds the best node on which a task of the shape fits now. It reports false when
// there is none.
func (c *Cluster) Place(s Shape) (NodeID, bool) {
	if len(c.nodes) == 1 {
		return 0, c.Fits(0, s)
	}
	sh := &c.shapes[s]
	if sh.version != c.classes.version {
		c.suiting(sh)
	}
	if recent, known := c.given.since(sh.failed); known && len(recent) <= recentMost {
		return c.placeOnRecent(s, recent)
	}
	best := c.search(sh)
	if !best.found {
		sh.failed = c.given.end()
		return 0, false
	}
	sh.failed, sh.last = -1, best.id
	return best.id, true
}

// placeOnRecent looks at the nodes to which something was given since the shape fitted
// nowhere. Those at the front on which it does not fit need not be looked at again.
func (c *Cluster) placeOnRecent(s Shape, recent []NodeID) (NodeID, bool) {
	sh := &c.shapes[s]
	var best candidate
	for _, id := range recent {
		if c.Fits(id, s) {
			n := &c.nodes[id]
			best.consider(candidate{true, c.classes.all[n.class].extra(sh.need), n.Free.at(sh.scarce), id})
		} else if !best.found {
			sh.failed++
		}
	}
	if best.found {
		sh.last = best.id
	}
	return best.id, best.found
}

// recentMost is up to how many nodes are looked at one by one.
const recentMost = 64

// PlaceOn is Place among the nodes for which ok holds.
func (c *Cluster) PlaceOn(s Shape, ok func(NodeID) bool) (NodeID, bool) {
	if len(c.nodes) == 1 {
		return 0, c.Fits(0, s) && ok(0)
	}
	if !c.Room(s) {
		return 0, false
	}
	sh := &c.shapes[s]
	if sh.version != c.classes.version {
		c.suiting(sh)
	}
	if !c.groups.made {
		c.makeGroups()
	}
	var best candidate
	for _, k := range sh.suits {
		for _, g := range c.classes.all[k.class].groups {
			x := &c.groups.all[g]
			if !x.free.Covers(sh.need) {
				continue
			}
			for _, id := range x.ids {
				if at := (candidate{true, k.extra, x.free.at(sh.scarce), id}); at.before(&best) && ok(id) {
					best = at
				}
			}
		}
	}
	return best.id, best.found
}

// candidate is a node on which a task fits, with what it is compared by.
type candidate struct {
	found bool
	extra int32
	free  int64 // of the scarce resource
	id    NodeID
}

func (a *candidate) before(b *candidate) bool {
	switch {
	case !b.found:
		return true
	case a.extra != b.extra:
		return a.extra < b.extra
	case a.free != b.free:
		return a.free < b.free
	}
	return a.id < b.id
}

func (a *candidate) consider(b candidate) {
	if b.before(a) {
		*a = b
	}
}

// search looks at all groups of nodes.
func (c *Cluster) search(sh *shape) (best candidate) {
	if !c.groups.made {
		c.makeGroups()
	}
	for _, k := range sh.suits {
		if best.found && k.extra > best.extra {
			break
		}
		for _, g := range c.classes.all[k.class].groups {
			if x := &c.groups.all[g]; x.free.Covers(sh.need) {
				best.consider(candidate{true, k.extra, x.free.at(sh.scarce), x.ids[0]})
			}
		}
	}
	return best
}
