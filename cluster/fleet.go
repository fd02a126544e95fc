package cluster

import "slices"

// fleet has the nodes. Each node is in a class of equal nodes, and within it in a group of nodes with equal free
// resources. So a search need not visit all nodes.
type fleet struct {
	nodes   []Node
	units   int64     // free on the nodes that are up
	windows *Calendar // of the cluster
	served  bool      // some node is at another server, which places its tasks

	classes classes
	groups  groups
	given   given
	kept    kept
}

// kept is the nodes with room kept for a waiting job, see [Kept].
type kept struct {
	ids []NodeID
	on  []bool // by node
}

func (f *fleet) isKept(id NodeID) bool { return int(id) < len(f.kept.on) && f.kept.on[id] }

// join adds a node without any properties; change sets them.
func (f *fleet) join(name string) NodeID {
	f.nodes = append(f.nodes, Node{Name: name, access: access{windows: f.windows.of(name)}, class: -1, group: -1})
	return NodeID(len(f.nodes) - 1)
}

// change changes the properties of a node, and updates its class and group.
func (f *fleet) change(id NodeID, to func(n *Node)) {
	n := &f.nodes[id]
	f.ungroup(id)
	f.units -= n.usable()
	to(n)
	n.State = n.effective(f.windows.now)
	f.units += n.usable()
	f.classes.classify(n, f.windows.now)
	f.regroup(id)
	f.give(id)
}

// add frees the needed resources on a node, or occupies them if sign is negative.
func (f *fleet) add(id NodeID, need Vector, sign int64) {
	n := &f.nodes[id]
	if n.boundless {
		return // the node has no less room than before
	}
	for len(n.Free) < len(need) {
		n.Free = append(n.Free, 0)
	}
	grouped := n.group >= 0
	if grouped {
		f.ungroup(id)
	}
	f.units -= n.usable()
	for i, a := range need {
		n.Free[i] += sign * a
	}
	f.units += n.usable()
	n.Running -= int(sign)
	if grouped {
		f.regroup(id)
	}
}

// fits reports whether a task with the key fits on the node now, however briefly.
func (f *fleet) fits(id NodeID, req *request) bool {
	n := &f.nodes[id]
	return n.State == Up && n.Free.Covers(req.need) && (len(req.must) == 0 || req.must.Allows(n.Labels)) &&
		n.opens(req.window, f.windows.now)
}

// refresh updates the classes of nodes that could take a key.
func (f *fleet) refresh(req *request) {
	if req.version != f.classes.version {
		f.classes.suiting(req, f.windows.now)
	}
}

// enforceWindows applies the calendar to all nodes.
func (f *fleet) enforceWindows() {
	of := f.windows.byNode()
	for i := range f.nodes {
		if n := &f.nodes[i]; len(n.windows)+len(of[n.Name]) > 0 {
			f.change(NodeID(i), func(n *Node) { n.windows = of[n.Name].sorted() })
		}
	}
}

// give records that a node became freer or changed.
func (f *fleet) give(id NodeID) {
	l := &f.given
	if len(f.nodes) == 1 { // the log is not searched; raising first invalidates earlier failures
		l.first++
		return
	}
	if len(l.ids) == maxGiven {
		l.first += maxGiven / 2
		l.ids = append(l.ids[:0], l.ids[maxGiven/2:]...)
	}
	l.ids = append(l.ids, id)
}

// makeGroups creates the groups; from then on every change updates them.
func (f *fleet) makeGroups() {
	f.groups = groups{of: map[uint64]int32{}, made: true}
	for i := range f.nodes {
		f.nodes[i].group = -1
		f.regroup(NodeID(i))
	}
}

// regroup puts a node that takes tasks into its group.
func (f *fleet) regroup(id NodeID) {
	n := &f.nodes[id]
	if !f.groups.made || n.State != Up {
		return
	}
	free := n.Free.trimmed()
	hash := hashOf(n.class, free)
	g := f.groups.find(hash, n.class, free)
	if g < 0 {
		g = f.groups.add(hash, n.class, free)
		k := &f.classes.all[n.class]
		f.groups.all[g].slot = int32(len(k.groups))
		k.groups = append(k.groups, g)
	}
	x := &f.groups.all[g]
	n.group = g
	x.ids = append(x.ids, id)
	f.up(x, len(x.ids)-1)
}

// ungroup removes a node from its group.
func (f *fleet) ungroup(id NodeID) {
	n := &f.nodes[id]
	if n.group < 0 {
		return
	}
	x := &f.groups.all[n.group]
	at, last := int(n.slot), len(x.ids)-1
	moved := x.ids[last]
	x.ids = x.ids[:last]
	if at < last {
		x.ids[at] = moved
		f.nodes[moved].slot = int32(at)
		f.down(x, at)
		f.up(x, int(f.nodes[moved].slot))
	}
	if last == 0 {
		f.drop(n.group)
	}
	n.group = -1
}

// up restores the heap order towards the root after the node at i changed; down does so towards the leaves.
func (f *fleet) up(x *group, i int) {
	id := x.ids[i]
	for ; i > 0 && x.ids[(i-1)/2] > id; i = (i - 1) / 2 {
		x.ids[i] = x.ids[(i-1)/2]
		f.nodes[x.ids[i]].slot = int32(i)
	}
	x.ids[i] = id
	f.nodes[id].slot = int32(i)
}

func (f *fleet) down(x *group, i int) {
	id := x.ids[i]
	for kid := 2*i + 1; kid < len(x.ids); kid = 2*i + 1 {
		if kid+1 < len(x.ids) && x.ids[kid+1] < x.ids[kid] {
			kid++
		}
		if x.ids[kid] > id {
			break
		}
		x.ids[i] = x.ids[kid]
		f.nodes[x.ids[i]].slot = int32(i)
		i = kid
	}
	x.ids[i] = id
	f.nodes[id].slot = int32(i)
}

// drop removes an empty group.
func (f *fleet) drop(g int32) {
	x := &f.groups.all[g]
	k := &f.classes.all[x.class]
	last := k.groups[len(k.groups)-1]
	k.groups[x.slot], f.groups.all[last].slot = last, x.slot
	k.groups = k.groups[:len(k.groups)-1]
	f.groups.remove(g)
}

// clone returns a copy that uses the windows of another calendar.
func (f *fleet) clone(windows *Calendar) fleet {
	d := fleet{nodes: slices.Clone(f.nodes), units: f.units, windows: windows, served: f.served}
	d.classes = f.classes.clone()
	for i := range d.nodes {
		d.nodes[i].Free = slices.Clone(d.nodes[i].Free)
		d.nodes[i].group = -1
	}
	d.kept = kept{slices.Clone(f.kept.ids), slices.Clone(f.kept.on)}
	d.given.first = f.given.end() + 1 // a request that failed in the original is tried again
	return d
}
