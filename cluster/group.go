package cluster

import "slices"

// group is the nodes of a class on which the same is free: to a request one is as good as
// another, and the one that joined first is taken. So the cost of a search follows the
// number of different nodes, not the number of nodes.
//
// Groups are made when a second node has joined and something is looked for; a cluster of
// one node has none.
type group struct {
	class int32
	slot  int32 // in the class's list
	next  int32 // group with the same hash; -1 is none
	hash  uint64
	free  Vector
	ids   []NodeID // a heap, so that the first is the lowest
}

type groups struct {
	all    []group
	of     map[uint64]int32 // by hash: the first
	unused []int32
	made   bool
}

// makeGroups begins to keep groups.
func (c *Cluster) makeGroups() {
	c.groups = groups{of: map[uint64]int32{}, made: true}
	for i := range c.nodes {
		c.nodes[i].group = -1
		c.regroup(NodeID(i))
	}
}

// regroup puts a node that takes tasks into its group.
func (c *Cluster) regroup(id NodeID) {
	n := &c.nodes[id]
	if !c.groups.made || n.State != Up {
		return
	}
	free := n.Free.trimmed()
	hash := hashOf(n.class, free)
	g := c.groups.find(hash, n.class, free)
	if g < 0 {
		g = c.groups.add(hash, n.class, free)
		k := &c.classes.all[n.class]
		c.groups.all[g].slot = int32(len(k.groups))
		k.groups = append(k.groups, g)
	}
	x := &c.groups.all[g]
	n.group = g
	x.ids = append(x.ids, id)
	c.up(x, len(x.ids)-1)
}

// ungroup takes a node out of its group.
func (c *Cluster) ungroup(id NodeID) {
	n := &c.nodes[id]
	if n.group < 0 {
		return
	}
	x := &c.groups.all[n.group]
	at, last := int(n.slot), len(x.ids)-1
	moved := x.ids[last]
	x.ids = x.ids[:last]
	if at < last {
		x.ids[at] = moved
		c.nodes[moved].slot = int32(at)
		c.down(x, at)
		c.up(x, int(c.nodes[moved].slot))
	}
	if last == 0 {
		c.drop(n.group)
	}
	n.group = -1
}

// up and down restore the heap after the node at i changed.
func (c *Cluster) up(x *group, i int) {
	id := x.ids[i]
	for ; i > 0 && x.ids[(i-1)/2] > id; i = (i - 1) / 2 {
		x.ids[i] = x.ids[(i-1)/2]
		c.nodes[x.ids[i]].slot = int32(i)
	}
	x.ids[i] = id
	c.nodes[id].slot = int32(i)
}

func (c *Cluster) down(x *group, i int) {
	id := x.ids[i]
	for kid := 2*i + 1; kid < len(x.ids); kid = 2*i + 1 {
		if kid+1 < len(x.ids) && x.ids[kid+1] < x.ids[kid] {
			kid++
		}
		if x.ids[kid] > id {
			break
		}
		x.ids[i] = x.ids[kid]
		c.nodes[x.ids[i]].slot = int32(i)
		i = kid
	}
	x.ids[i] = id
	c.nodes[id].slot = int32(i)
}

// drop forgets a group without nodes.
func (c *Cluster) drop(g int32) {
	x := &c.groups.all[g]
	k := &c.classes.all[x.class]
	last := k.groups[len(k.groups)-1]
	k.groups[x.slot], c.groups.all[last].slot = last, x.slot
	k.groups = k.groups[:len(k.groups)-1]
	c.groups.remove(g)
}

func (s *groups) find(hash uint64, class int32, free Vector) int32 {
	g, ok := s.of[hash]
	if !ok {
		return -1
	}
	for g >= 0 && (s.all[g].class != class || !slices.Equal(s.all[g].free, free)) {
		g = s.all[g].next
	}
	return g
}

func (s *groups) add(hash uint64, class int32, free Vector) int32 {
	var g int32
	if last := len(s.unused) - 1; last >= 0 {
		g, s.unused = s.unused[last], s.unused[:last]
	} else {
		g = int32(len(s.all))
		s.all = append(s.all, group{})
	}
	x := &s.all[g]
	x.hash, x.class, x.next = hash, class, -1
	x.free, x.ids = append(x.free[:0], free...), x.ids[:0]
	if first, ok := s.of[hash]; ok {
		x.next = first
	}
	s.of[hash] = g
	return g
}

func (s *groups) remove(g int32) {
	x := &s.all[g]
	switch first := s.of[x.hash]; {
	case first != g:
		for s.all[first].next != g {
			first = s.all[first].next
		}
		s.all[first].next = x.next
	case x.next >= 0:
		s.of[x.hash] = x.next
	default:
		delete(s.of, x.hash)
	}
	s.unused = append(s.unused, g)
}

// hashOf mixes as SplitMix64 does.
func hashOf(class int32, free Vector) uint64 {
	h := uint64(class) + 1
	for _, n := range free {
		h = (h ^ uint64(n)) * 0xbf58476d1ce4e5b9
		h ^= h >> 31
	}
	return h
}
