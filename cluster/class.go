package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// class is a set of equal nodes (capacity, labels, state). The parts of a search that do not change while tasks
// come and go are computed once per class.
type class struct {
	capacity Vector
	labels   Labels
	state    State
	access
	key    string
	nodes  int
	groups []int32 // of its nodes, by free resources; see group
}

// classes are all classes, by number.
type classes struct {
	all     []class
	of      map[string]int32
	unused  []int32
	version uint32 // counts changes to the nodes
}

// classify puts a node into the class of its equals.
func (k *classes) classify(n *Node, now int64) {
	// fmt prints maps in the order of their keys.
	key := fmt.Sprint(n.Capacity.trimmed(), n.State, n.Labels) + n.access.key(now)
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

// suiting updates the classes of nodes that could take tasks with a key; classes with the fewest resources besides the
// requested ones go first. It also chooses the scarce resource, for comparing nodes: the task takes the largest part of
// it.
func (c *classes) suiting(req *request, now int64) {
	req.version, req.suits, req.scarce = c.version, nil, 0
	total := make(Vector, len(req.need))
	for i := range c.all {
		k := &c.all[i]
		if k.nodes == 0 || k.state != Up {
			continue
		}
		for r := range total {
			total[r] += int64(k.nodes) * max(0, k.capacity.at(r))
		}
		if k.suits(req) && k.opens(req.window, now) {
			req.suits = append(req.suits, suit{int32(i), k.extra(req.need)})
		}
	}
	slices.SortStableFunc(req.suits, func(a, b suit) int { return int(a.extra - b.extra) })
	part := 0.0
	for r, n := range req.need {
		if p := float64(n) / float64(total[r]); total[r] > 0 && p > part {
			req.scarce, part = r, p
		}
	}
}

// suits reports whether the nodes of the class could take a task with the key if they were empty and took tasks.
func (k *class) suits(req *request) bool {
	return k.capacity.Covers(req.need) && req.must.Allows(k.labels)
}

// extra is the number of resources that the nodes have and the request does not ask for.
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
