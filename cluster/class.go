package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// Nodes that are alike (capacity, labels, state) are of one class. What a request asks of a
// node that does not change while tasks come and go is asked once of each class.
type class struct {
	capacity Vector
	labels   Labels
	state    State
	access
	key    string
	nodes  int
	groups []int32 // of its nodes, by what is free on them; see group
}

type classes struct {
	all     []class
	of      map[string]int32
	unused  []int32
	version uint32 // counts changes of what is there
}

// suit is a class of nodes that could take a request if they were empty.
type suit struct {
	class int32
	extra int32 // resources that its nodes have and the request does not ask for
}

// classify puts a node into the class of those that are like it.
func (c *Cluster) classify(n *Node) {
	k := &c.classes
	key := fmt.Sprint(n.Capacity.trimmed(), n.State, n.Labels) + n.access.key(c.windows.now) // maps are printed in the order of their keys
	if n.class >= 0 && k.all[n.class].key == key {
		return
	}
	k.version++
	if n.class >= 0 {
		if old := &k.all[n.class]; old.nodes > 1 {
			old.nodes--
		} else {
			delete(k.of, old.key)
			*old = class{}
			k.unused = append(k.unused, n.class)
		}
	}
	i, known := k.of[key]
	if !known {
		if last := len(k.unused) - 1; last >= 0 {
			i, k.unused = k.unused[last], k.unused[:last]
		} else {
			i = int32(len(k.all))
			k.all = append(k.all, class{})
		}
		k.all[i] = class{capacity: n.Capacity, labels: n.Labels, state: n.State, access: n.access, key: key}
		k.of[key] = i
	}
	k.all[i].nodes++
	n.class = i
}

// trimmed is the vector without zeros at its end.
func (v Vector) trimmed() Vector {
	for len(v) > 0 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}

// suiting brings up to date which classes of nodes that take tasks could take a shape, those
// first that have the fewest resources beside what it asks for, and by which resource nodes
// are compared for it: the one of which it takes the largest part of what there is.
func (c *Cluster) suiting(sh *shape) {
	sh.version, sh.suits, sh.scarce = c.classes.version, nil, 0
	total := make(Vector, len(sh.need))
	for i := range c.classes.all {
		k := &c.classes.all[i]
		if k.nodes == 0 || k.state != Up {
			continue
		}
		for r := range total {
			total[r] += int64(k.nodes) * max(0, k.capacity.at(r))
		}
		if k.suits(sh) && k.opens(sh.window, c.windows.now) {
			sh.suits = append(sh.suits, suit{int32(i), k.extra(sh.need)})
		}
	}
	slices.SortStableFunc(sh.suits, func(a, b suit) int { return int(a.extra - b.extra) })
	part := 0.0
	for r, n := range sh.need {
		if p := float64(n) / float64(total[r]); total[r] > 0 && p > part {
			sh.scarce, part = r, p
		}
	}
}

// suits reports whether the nodes of the class could take a shape if they were empty and
// took tasks.
func (k *class) suits(sh *shape) bool {
	return k.capacity.Covers(sh.need) && sh.must.Allows(k.labels)
}

// extra is how many resources the nodes have that a request does not ask for.
func (k *class) extra(need Vector) (n int32) {
	for r, have := range k.capacity {
		if have > 0 && need.at(r) <= 0 {
			n++
		}
	}
	return n
}

func (k *classes) clone() classes {
	d := *k
	d.all, d.of, d.unused = slices.Clone(k.all), maps.Clone(k.of), slices.Clone(k.unused)
	for i := range d.all {
		d.all[i].groups = nil
	}
	return d
}
