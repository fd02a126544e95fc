package cluster

// Could reports whether a task of the shape would fit on some node that is not
// down, if nothing else ran there.
func (c *Cluster) Could(s Shape) bool {
	return c.someClass(s, func(k *class) bool { return k.state != Down })
}

// Ever reports whether a task of the shape would fit on some node that is known, in
// whatever state it is now.
func (c *Cluster) Ever(s Shape) bool { return c.someClass(s, func(*class) bool { return true }) }

func (c *Cluster) someClass(s Shape, counts func(*class) bool) bool {
	for i := range c.classes.all {
		if k := &c.classes.all[i]; k.nodes > 0 && counts(k) && k.suits(&c.shapes[s]) {
			return true
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

// Requirement is one step of the way from all nodes to those that could take a shape.
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

// Requirements follows what a shape asks for step by step, the labels first, over all
// nodes that are known.
func (c *Cluster) Requirements(s Shape) (out []Requirement) {
	left := make([]*Node, len(c.nodes))
	for i := range c.nodes {
		left[i] = &c.nodes[i]
	}
	sh := &c.shapes[s]
	for i := range sh.must {
		left = keep(left, func(n *Node) bool { return sh.must[i].allows(n.Labels) })
		out = append(out, Requirement{Term: sh.must[i].String(), Left: len(left)})
	}
	for r, need := range sh.need {
		if need <= 0 {
			continue
		}
		step := Requirement{Resource: c.names[r], Need: need}
		for _, n := range left {
			if have := n.Capacity.at(r); have > step.Largest {
				step.Largest, step.On = have, n.Name
			}
		}
		left = keep(left, func(n *Node) bool { return n.Capacity.at(r) >= need })
		step.Left = len(left)
		out = append(out, step)
	}
	return out
}

func keep(nodes []*Node, f func(*Node) bool) []*Node {
	var out []*Node
	for _, n := range nodes {
		if f(n) {
			out = append(out, n)
		}
	}
	return out
}
