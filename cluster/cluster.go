// Package cluster says what is there: nodes with named, countable resources, what
// of them is free, and where a task would fit. It decides nothing about order;
// that is left to packages sched and policy.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// Amounts maps names of resources (cpu, mem, gpu, slots, ...) to whole amounts.
type Amounts map[string]int64

// Vector holds amounts by the number that a [Cluster] gave each resource. A missing
// tail is zero. Number 0 is the unit, in which shares are counted.
type Vector []int64

func (v Vector) at(i int) int64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// Covers reports whether v has at least need of everything that is needed: where nothing is,
// it makes no difference that there is less than nothing.
func (v Vector) Covers(need Vector) bool {
	for i, n := range need {
		if n > 0 && n > v.at(i) {
			return false
		}
	}
	return true
}

// Shape numbers a request: tasks that ask for the same have the same shape.
type Shape int32

// NodeID numbers a node, in the order in which they joined.
type NodeID int32

// State says whether a node takes new tasks.
type State uint8

// The states of a node.
const (
	Up          State = iota // takes tasks
	Drain                    // finishes what runs and takes nothing new
	Down                     // not heard of
	Maintenance              // as Drain: somebody works on it, and it comes back
	Elsewhere                // takes tasks from another scheduler, and none from this one
)

func (s State) String() string {
	return [...]string{"up", "drain", "down", "maintenance", "elsewhere"}[s]
}

// Counts reports whether the node is part of what there is to divide, whoever does it.
func (s State) Counts() bool { return s == Up || s == Elsewhere }

// Labels say of a node what cannot be counted: arch=amd64, rack=b.
type Labels map[string]string

// Node is one machine, or the slots of one process.
type Node struct {
	Name     string
	State    State // Maintenance also in a window for no task at all
	Labels   Labels
	Capacity Vector
	Free     Vector // below zero where the capacity shrank under running tasks
	Running  int    // tasks
	Server   string // that has it; "" is this one

	said State // by the caller
	access

	class, group int32 // those it belongs to; group is -1 unless it takes tasks
	slot         int32 // its place in the group
}

// Cluster is the set of nodes. Its methods that take a NodeID or Shape panic on
// one that it did not give out.
type Cluster struct {
	names  []string
	number map[string]int
	shapes []shape
	shape  map[string]Shape
	nodes  []Node
	byName map[string]NodeID
	units  int64 // free on the nodes that are up
	served bool  // some node is at another server

	classes classes
	groups  groups
	given   given
	windows calendar
}

// shape is a request, and what is remembered of looking for room for it.
type shape struct {
	need   Vector // of one task
	must   Constraint
	gang   int32 // tasks that start all at once; 0: each for itself
	spread bool  // each on a node of its own
	window string

	suits   []suit // the classes of nodes that could take it
	scarce  int    // the resource in which nodes are compared
	version uint32 // of the classes for which both hold
	failed  int    // it fitted nowhere before this place in the log of what was given; -1 is not known
	last    NodeID // where it was placed last
}

// New returns an empty cluster that counts shares in the named unit.
func New(unit string) *Cluster {
	c := &Cluster{number: map[string]int{}, shape: map[string]Shape{}, byName: map[string]NodeID{}}
	c.classes.of = map[string]int32{}
	c.Number(unit)
	return c
}

// Unit is the name of the resource in which shares are counted.
func (c *Cluster) Unit() string { return c.names[0] }

// Number is the place of a resource in a [Vector]. Unknown resources get one.
func (c *Cluster) Number(name string) int {
	i, ok := c.number[name]
	if !ok {
		i = len(c.names)
		c.names = append(c.names, name)
		c.number[name] = i
	}
	return i
}

// Resource is the name behind a number.
func (c *Cluster) Resource(number int) string { return c.names[number] }

// Vector numbers the amounts.
func (c *Cluster) Vector(a Amounts) Vector {
	var v Vector
	for _, name := range slices.Sorted(maps.Keys(a)) {
		i := c.Number(name)
		for len(v) <= i {
			v = append(v, 0)
		}
		v[i] = a[name]
	}
	return v
}

// Amounts names the vector's non-zero amounts.
func (c *Cluster) Amounts(v Vector) Amounts {
	a := Amounts{}
	for i, n := range v {
		if n != 0 {
			a[c.names[i]] = n
		}
	}
	return a
}

// Ask is what tasks of a shape have in common.
type Ask struct {
	Amounts Amounts
	Must    Constraint // on the labels of the node
	Mark    string     // tells shapes apart that ask for the same
	// Gang is how many tasks start all at once, or not at all; 0 and 1: each for itself.
	Gang int
	// Spread has each task of a gang on a node of its own.
	Spread bool
	// Window is the name of the window in which they run; see [Window].
	Window string
}

// Shape numbers a request for the amounts alone.
func (c *Cluster) Shape(a Amounts) Shape { return c.ShapeOf(Ask{Amounts: a}) }

// ShapeOf numbers a request. Every task occupies at least one unit: a request that does not
// name it gets one.
func (c *Cluster) ShapeOf(a Ask) Shape {
	sh := shape{need: c.request(a.Amounts), must: a.Must, window: a.Window, failed: -1, version: c.classes.version - 1}
	if a.Gang > 1 {
		sh.gang, sh.spread = int32(a.Gang), a.Spread
	}
	key := fmt.Sprint(sh.need, sh.gang, sh.spread) + a.Must.String() + "\x00" + a.Mark + "\x00" + a.Window
	s, ok := c.shape[key]
	if !ok {
		s = Shape(len(c.shapes))
		c.shapes = append(c.shapes, sh)
		c.shape[key] = s
	}
	return s
}

// request is the vector of a request.
func (c *Cluster) request(a Amounts) Vector {
	v := c.Vector(WithTypes(a))
	if len(v) == 0 {
		v = Vector{0}
	}
	v[0] = max(1, v[0])
	for len(v) > 1 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}

// Request is what one task of a shape asks for; it is not to be changed.
func (c *Cluster) Request(s Shape) Vector { return c.shapes[s].need }

// Must is what the labels of a node have to satisfy for tasks of the shape.
func (c *Cluster) Must(s Shape) Constraint { return c.shapes[s].must }

// Shapes is how many shapes have been given out.
func (c *Cluster) Shapes() int { return len(c.shapes) }

// Gang is how many tasks of the shape start all at once, 1 if each starts for itself; spread
// is set if each needs a node of its own.
func (c *Cluster) Gang(s Shape) (tasks int, spread bool) {
	sh := &c.shapes[s]
	return int(max(1, sh.gang)), sh.spread
}

// Width is how many units a task of the shape occupies: what it is charged for.
func (c *Cluster) Width(s Shape) float64 { return float64(c.shapes[s].need[0]) }

// Join adds a node without labels; see [Cluster.JoinLabelled].
func (c *Cluster) Join(name string, capacity Amounts) NodeID {
	return c.JoinLabelled(name, capacity, nil)
}

// JoinLabelled adds a node or, if one of that name is known, gives it the new capacity and
// labels; it is up afterwards. The labels are not to be changed.
func (c *Cluster) JoinLabelled(name string, capacity Amounts, labels Labels) NodeID {
	v := c.Vector(WithTypes(capacity))
	id, ok := c.byName[name]
	if !ok {
		id = NodeID(len(c.nodes))
		c.nodes = append(c.nodes, Node{Name: name, access: access{windows: c.windowsOf(name)}, class: -1, group: -1})
		c.byName[name] = id
	}
	c.change(id, func(n *Node) {
		free := make(Vector, max(len(v), len(n.Free)))
		for i := range free {
			free[i] = v.at(i) - (n.Capacity.at(i) - n.Free.at(i))
		}
		n.Capacity, n.Free, n.said, n.Labels = v, free, Up, labels
	})
	return id
}

// SetState changes whether the node takes tasks. One that is up is in maintenance while a
// window says so.
func (c *Cluster) SetState(id NodeID, s State) {
	c.change(id, func(n *Node) { n.said = s })
}

// change changes what a node is.
func (c *Cluster) change(id NodeID, f func(n *Node)) {
	n := &c.nodes[id]
	c.ungroup(id)
	c.units -= n.usable()
	f(n)
	n.State = n.effective(c.windows.now)
	c.units += n.usable()
	c.classify(n)
	c.regroup(id)
	c.give(id)
}

// usable is how many units of the node could take tasks now.
func (n *Node) usable() int64 {
	if n.State != Up {
		return 0
	}
	return max(0, n.Free.at(0))
}

// Lookup finds a node by its name.
func (c *Cluster) Lookup(name string) (NodeID, bool) {
	id, ok := c.byName[name]
	return id, ok
}

// Nodes are all nodes, in the order in which they joined; not to be changed.
func (c *Cluster) Nodes() []Node { return c.nodes }

// Take occupies what a task of the shape needs on the node.
func (c *Cluster) Take(id NodeID, s Shape) { c.add(id, s, -1) }

// Give frees what a task of the shape occupied on the node.
func (c *Cluster) Give(id NodeID, s Shape) {
	c.add(id, s, +1)
	c.give(id)
}

func (c *Cluster) add(id NodeID, s Shape, sign int64) {
	n, need := &c.nodes[id], c.shapes[s].need
	for len(n.Free) < len(need) {
		n.Free = append(n.Free, 0)
	}
	grouped := n.group >= 0
	if grouped {
		c.ungroup(id)
	}
	c.units -= n.usable()
	for i, a := range need {
		n.Free[i] += sign * a
	}
	c.units += n.usable()
	n.Running -= int(sign)
	if grouped {
		c.regroup(id)
	}
}

// FreeUnits is how many units could take tasks now.
func (c *Cluster) FreeUnits() int64 { return c.units }

// Capacity is the sum over the nodes that take tasks, and Free is what of it is free. A
// node that is drained is not part of what there is to divide, although tasks may still run
// on it: a policy that counted it would divide slots that nobody can get.
func (c *Cluster) Capacity() (capacity, free Vector) {
	capacity, free = make(Vector, len(c.names)), make(Vector, len(c.names))
	for _, n := range c.nodes {
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

// Clone returns a copy that shares nothing that changes.
func (c *Cluster) Clone() *Cluster {
	d := &Cluster{
		names: slices.Clone(c.names), number: maps.Clone(c.number),
		shapes: slices.Clone(c.shapes), shape: maps.Clone(c.shape),
		nodes: slices.Clone(c.nodes), byName: maps.Clone(c.byName),
		units: c.units, served: c.served, classes: c.classes.clone(), windows: c.windows,
	}
	d.windows.all = slices.Clone(c.windows.all)
	for i := range d.nodes {
		d.nodes[i].Free = slices.Clone(d.nodes[i].Free)
		d.nodes[i].group = -1
	}
	d.given.first = c.given.end() + 1 // what failed in the original is tried again
	return d
}
