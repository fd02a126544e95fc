package cluster

import (
	"maps"
	"slices"
)

// Requirement is one step in narrowing all nodes to the nodes that could take a task.
type Requirement struct {
	Term     string // of the constraint; empty for a resource
	Resource string
	Need     int64
	Left     int // number of nodes that satisfy this and all earlier requirements
	// Largest is the largest amount of the resource on a node that satisfies all earlier requirements; On is such a
	// node.
	Largest int64
	On      string
	// Except are nodes that the task is kept off; the requirement is then neither a term nor a resource.
	Except []string
}

// Requirements applies the requirements of a task to all known nodes, one after the other, labels first.
func (e Empty) Requirements(a Amounts, must Constraint) (out []Requirement) {
	left := make([]*Node, len(e.fleet.nodes))
	for i := range e.fleet.nodes {
		left[i] = &e.fleet.nodes[i]
	}
	keep := func(f func(*Node) bool) {
		left = slices.DeleteFunc(left, func(n *Node) bool { return !f(n) })
	}
	for _, t := range must {
		keep(func(n *Node) bool { return t.allows(n.Labels) })
		step := Requirement{Except: t.excepts(), Left: len(left)}
		if step.Except == nil {
			step.Term = t.String()
		}
		out = append(out, step)
	}
	need := Amounts{} // from these follow the amounts that types imply
	maps.Copy(need, a)
	need[e.resources.unit()] = max(1, WithTypes(a)[e.resources.unit()])
	for _, name := range slices.Sorted(maps.Keys(need)) {
		if need[name] == 0 {
			continue // a request for nothing requires nothing
		}
		step := Requirement{Resource: name, Need: need[name]}
		for _, n := range left {
			if have := e.resources.has(n.Capacity, name); have > step.Largest {
				step.Largest, step.On = have, n.Name
			}
		}
		keep(func(n *Node) bool { return e.resources.has(n.Capacity, name) >= step.Need })
		step.Left = len(left)
		out = append(out, step)
	}
	return out
}
