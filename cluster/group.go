package cluster

import "slices"

// group is the set of nodes of a class with equal free resources. They are interchangeable for a request, and the
// node that joined first is taken. The cost of a search thus depends on the number of different nodes, not on the
// number of nodes.
//
// Groups are created at the first search after a second node has joined; a cluster of one node has none.
type group struct {
	class int32
	slot  int32 // index in the class's list
	next  int32 // next group with the same hash; -1 is none
	hash  uint64
	free  Vector
	ids   []NodeID // a heap: the first id is the lowest
}

type groups struct {
	all    []group
	of     map[uint64]int32 // first group of each hash
	unused []int32
	made   bool
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

// hashOf mixes bits like SplitMix64.
func hashOf(class int32, free Vector) uint64 {
	h := uint64(class) + 1
	for _, n := range free {
		h = (h ^ uint64(n)) * 0xbf58476d1ce4e5b9
		h ^= h >> 31
	}
	return h
}
