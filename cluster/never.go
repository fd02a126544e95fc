package cluster

import (
	"maps"
	"slices"
)

// Could reports whether a task of the shape, or the whole of a gang at one server, would fit on
// nodes that are not down, if nothing else ran there.
func (c *Cluster) Could(s Shape) bool {
	sh := &c.shapes[s]
	if sh.gang > 0 && c.served {
		return int(sh.gang) <= c.mostAtOne(func(n *Node) int {
			if n.State == Down || !sh.must.Allows(n.Labels) {
				return 0
			}
			return sh.perNode(n.Capacity)
		})
	}
	tasks := 0
	for i := range c.classes.all {
		if k := &c.classes.all[i]; k.nodes > 0 && k.state != Down && k.suits(sh) {
			if tasks += k.nodes * sh.perNode(k.capacity); tasks >= int(sh.gang) {
				return true
			}
		}
	}
	return false
}

// Lack is a resource of which a task asks for more than any node has.
type Lack struct {
	Resource      string
	Need, Largest int64
}

// Lacks says of which resources no node that is not down has as much as the shape asks
// for. It is empty also if each is somewhere, but no node has all of them, or if it is the
// labels that no node satisfies.
func (c *Cluster) Lacks(s Shape) (out []Lack) {
	for i, need := range c.shapes[s].need {
		l := Lack{Resource: c.names[i], Need: need}
		for j := range c.classes.all {
			if k := &c.classes.all[j]; k.nodes > 0 && k.state != Down {
				l.Largest = max(l.Largest, k.capacity.at(i))
			}
		}
		if l.Largest < need {
			out = append(out, l)
		}
	}
	return out
}

// Ever reports whether a task that asks for this would fit on some node that is known, in
// whatever state it is now. Unlike [Cluster.Shape] it keeps nothing of the question.
func (c *Cluster) Ever(a Amounts, must Constraint) bool {
	need := c.asked(a)
	for i := range c.classes.all {
		k := &c.classes.all[i]
		if k.nodes == 0 || !must.Allows(k.labels) {
			continue
		}
		fits := true
		for name, n := range need {
			fits = fits && c.has(k.capacity, name) >= n
		}
		if fits {
			return true
		}
	}
	return false
}

// asked is a request with all that it implies.
func (c *Cluster) asked(a Amounts) Amounts {
	need := Amounts{}
	maps.Copy(need, WithTypes(a))
	need[c.Unit()] = max(1, need[c.Unit()])
	return need
}

// has is how much of a resource a vector has, of which nobody may have heard.
func (c *Cluster) has(v Vector, name string) int64 {
	if r, known := c.number[name]; known {
		return v.at(r)
	}
	return 0
}

// Requirement is one step of the way from all nodes to those that could take a task.
type Requirement struct {
	Term     string // of the constraint; empty for a resource
	Resource string
	Need     int64
	Left     int // nodes that satisfy this and all before
	// Largest is the most of the resource that a node has which satisfies all before, and
	// On such a node.
	Largest int64
	On      string
}

// Requirements follows what a task asks for step by step, the labels first, over all
// nodes that are known.
func (c *Cluster) Requirements(a Amounts, must Constraint) (out []Requirement) {
	left := make([]*Node, len(c.nodes))
	for i := range c.nodes {
		left[i] = &c.nodes[i]
	}
	keep := func(f func(*Node) bool) {
		left = slices.DeleteFunc(left, func(n *Node) bool { return !f(n) })
	}
	for _, t := range must {
		keep(func(n *Node) bool { return t.allows(n.Labels) })
		out = append(out, Requirement{Term: t.String(), Left: len(left)})
	}
	need := Amounts{} // what types imply of their resource follows from these
	maps.Copy(need, a)
	need[c.Unit()] = max(1, WithTypes(a)[c.Unit()])
	for _, name := range slices.Sorted(maps.Keys(need)) {
		step := Requirement{Resource: name, Need: need[name]}
		for _, n := range left {
			if have := c.has(n.Capacity, name); have > step.Largest {
				step.Largest, step.On = have, n.Name
			}
		}
		keep(func(n *Node) bool { return c.has(n.Capacity, name) >= step.Need })
		step.Left = len(left)
		out = append(out, step)
	}
	return out
}
