// Package cluster knows the nodes with their named, countable resources, the free part of these, and where a task
// would fit. It decides nothing about order; packages sched and policy do.
//
// A [Cluster] consists of the numbers of its resources, the keys of the requests, a fleet of nodes that finds room,
// and a [Calendar] of windows. [Empty] computes what would fit if no task ran, and a [Plan] the room in the future.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package cluster

import (
	"maps"
	"slices"
)

// Cluster is the set of nodes. Its methods panic on a NodeID or Key that it did not give out.
type Cluster struct {
	resources *resources
	requests  requests
	fleet     fleet
	windows   Calendar

	byName   map[string]NodeID
	excepted exceptions
}

// New returns an empty cluster that counts shares in the named unit.
func New(unit string) *Cluster {
	c := &Cluster{resources: newResources(unit), byName: map[string]NodeID{}, excepted: exceptions{}}
	c.requests.of, c.fleet.classes.of = map[string]Key{}, map[string]int32{}
	c.fleet.windows = &c.windows
	return c
}

// Unit is the name of the resource in which shares are counted.
func (c *Cluster) Unit() string { return c.resources.unit() }

// Resource is the name behind a number.
func (c *Cluster) Resource(number int) string { return c.resources.names[number] }

// Number is the index of a resource in a [Vector]. An unknown resource gets a new number.
func (c *Cluster) Number(name string) int { return c.resources.index(name) }

// Vector converts named amounts to a vector.
func (c *Cluster) Vector(a Amounts) Vector { return c.resources.vector(a) }

// Amounts converts the non-zero amounts of a vector to named amounts.
func (c *Cluster) Amounts(v Vector) Amounts { return c.resources.amounts(v) }

// Join adds a node without labels; see [Cluster.JoinLabelled].
func (c *Cluster) Join(name string, capacity Amounts) NodeID {
	return c.JoinLabelled(name, capacity, nil)
}

// JoinLabelled adds a node or, if the name is known, gives that node the new capacity and labels; it is up
// afterwards. Callers must not change the labels later.
func (c *Cluster) JoinLabelled(name string, capacity Amounts, labels Labels) NodeID {
	return join(c, name, capacity, labels, false)
}

// JoinBoundless adds a node that windows do not affect, and whose room tasks do not use up.
func (c *Cluster) JoinBoundless(name string, capacity Amounts) NodeID {
	return join(c, name, capacity, nil, true)
}

func join(c *Cluster, name string, capacity Amounts, labels Labels, boundless bool) NodeID {
	v := c.resources.vector(WithTypes(capacity))
	id, ok := c.byName[name]
	if !ok {
		id = c.fleet.join(name)
		c.byName[name] = id
	}
	c.fleet.change(id, func(n *Node) {
		free := make(Vector, max(len(v), len(n.Free)))
		for i := range free {
			free[i] = v.at(i) - (n.Capacity.at(i) - n.Free.at(i))
		}
		n.Capacity, n.Free, n.said, n.Labels = v, free, Up, c.excepted.label(name, labels)
		n.Uncounted, n.boundless = uncountedOf(v, labels), boundless
	})
	return id
}

// SetState sets whether the node takes tasks. A node that is up becomes Maintenance during a maintenance window.
func (c *Cluster) SetState(id NodeID, s State) {
	c.fleet.change(id, func(n *Node) { n.said = s })
}

// SetServer sets the server that a node is connected to; "" is this one. Each server places tasks on its own nodes,
// and all tasks of a gang run at one server.
func (c *Cluster) SetServer(id NodeID, name string) {
	c.fleet.nodes[id].Server = name
	c.fleet.served = c.fleet.served || name != ""
}

// Lookup finds a node by its name.
func (c *Cluster) Lookup(name string) (NodeID, bool) {
	id, ok := c.byName[name]
	return id, ok
}

// Nodes returns all nodes in the order in which they joined. Callers must not change them.
func (c *Cluster) Nodes() []Node { return c.fleet.nodes }

// SetWindows replaces the windows.
func (c *Cluster) SetWindows(all []Window, now int64) {
	c.windows.all, c.windows.now = slices.Clone(all), now
	c.windows.pass()
	c.fleet.enforceWindows()
}

// PassWindows lets windows begin and end up to now, and reports whether any did. Call it before asking about an
// instant after [Calendar.NextEdge].
func (c *Cluster) PassWindows(now int64) bool {
	if !c.windows.Any() || now < c.windows.edge {
		return false
	}
	c.windows.now = now
	c.windows.pass()
	c.fleet.enforceWindows()
	return true
}

// Windows returns the windows that are not over.
func (c *Cluster) Windows() *Calendar { return &c.windows }

// Except adds a term to a constraint that keeps the task off the named nodes, even if they have not joined yet.
func (c *Cluster) Except(must Constraint, nodes []string) Constraint {
	if len(nodes) == 0 {
		return must
	}
	names := slices.Compact(slices.Sorted(slices.Values(nodes)))
	for _, name := range names {
		if id, known := c.byName[name]; c.excepted.add(name) && known {
			c.fleet.change(id, func(n *Node) { n.Labels = c.excepted.label(name, n.Labels) })
		}
	}
	return append(slices.Clone(must), c.excepted.term(names))
}

// Excepted reports whether some task is, or was, kept off a node.
func (c *Cluster) Excepted(node string) bool { return c.excepted[node] }

// Take occupies the resources of a task with the key on the node.
func (c *Cluster) Take(id NodeID, s Key) { c.fleet.add(id, c.requests.all[s].need, -1) }

// Give frees the resources of a task with the key on the node.
func (c *Cluster) Give(id NodeID, s Key) {
	c.fleet.add(id, c.requests.all[s].need, +1)
	c.fleet.give(id)
}

// FreeUnits is the number of free units on nodes that take tasks.
func (c *Cluster) FreeUnits() int64 { return c.fleet.units }

// Capacity is the sum over the nodes that take tasks, and its free part. A drained node does not count, although
// tasks may still run on it, because a policy that counted it would divide slots that no pool can get.
func (c *Cluster) Capacity() (capacity, free Vector) {
	wide := len(c.resources.names)
	capacity, free = make(Vector, wide), make(Vector, wide)
	for _, n := range c.fleet.nodes {
		if !n.State.Counts() {
			continue
		}
		for i := range capacity {
			capacity[i] += n.Capacity.at(i)
			free[i] += max(0, n.Free.at(i))
		}
	}
	return capacity, free
}

// Clone returns an independent copy; the two share only data that never changes.
func (c *Cluster) Clone() *Cluster {
	d := &Cluster{
		resources: c.resources.clone(), requests: c.requests.clone(), windows: c.windows.clone(),
		byName: maps.Clone(c.byName), excepted: maps.Clone(c.excepted),
	}
	d.fleet = c.fleet.clone(&d.windows)
	return d
}
