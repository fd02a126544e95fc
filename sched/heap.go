package sched

// order is an indexed heap of a pool's children by key, smallest first: each node
// has four children of its own, which lie side by side in memory. Equal keys are
// ordered by tie, then by the pools' numbers, i.e. by age.
type order struct {
	entries []rank
	by      int8 // inKeyOrder or one of the others
}

// A pool stands in up to four orders of its parent, and in one of all leaves.
const (
	inKeyOrder = iota
	inArrivalOrder
	inRisingOrder
	inFullOrder
	inFillOrder
	orders
)

// places says where each pool stands in its parent's orders, -1 if it does not. It
// is kept apart from the pools so that moving through a heap touches little memory.
type places [orders][]int32

type rank struct {
	key   float64
	child int32
}

const arity = 4

func (o *order) less(a, b rank, s *Scheduler) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	if x, y := s.tie(o.by, a.child), s.tie(o.by, b.child); x != y {
		return x < y
	}
	return a.child < b.child
}

// tie decides where keys are equal.
func (s *Scheduler) tie(by int8, id int32) float64 {
	switch by {
	case inRisingOrder:
		return s.ranks.of[id].rising.job
	case inFullOrder:
		return s.ranks.of[id].full.job
	}
	return s.pools[id].tie
}

func (o *order) push(r rank, s *Scheduler) {
	o.entries = append(o.entries, r)
	o.up(len(o.entries)-1, s)
}

func (o *order) remove(i int, s *Scheduler) {
	last := len(o.entries) - 1
	s.places[o.by][o.entries[i].child] = -1
	moved := o.entries[last]
	o.entries = o.entries[:last]
	if i == last {
		return
	}
	o.entries[i] = moved
	s.places[o.by][moved.child] = int32(i)
	o.fix(i, s)
}

// set changes the key at i and restores the order.
func (o *order) set(i int, key float64, s *Scheduler) {
	o.entries[i].key = key
	o.fix(i, s)
}

func (o *order) fix(i int, s *Scheduler) {
	if !o.down(i, s) {
		o.up(i, s)
	}
}

func (o *order) up(i int, s *Scheduler) {
	r := o.entries[i]
	for i > 0 {
		p := (i - 1) / arity
		if !o.less(r, o.entries[p], s) {
			break
		}
		o.entries[i] = o.entries[p]
		s.places[o.by][o.entries[i].child] = int32(i)
		i = p
	}
	o.entries[i] = r
	s.places[o.by][r.child] = int32(i)
}

// down reports whether the entry moved.
func (o *order) down(i int, s *Scheduler) bool {
	r, start := o.entries[i], i
	for {
		least := o.leastChild(i, s)
		if least < 0 || !o.less(o.entries[least], r, s) {
			break
		}
		o.entries[i] = o.entries[least]
		s.places[o.by][o.entries[i].child] = int32(i)
		i = least
	}
	o.entries[i] = r
	s.places[o.by][r.child] = int32(i)
	return i != start
}

// leastChild is the first in order among the entries below i, or -1.
func (o *order) leastChild(i int, s *Scheduler) int {
	first := arity*i + 1
	if first >= len(o.entries) {
		return -1
	}
	least := first
	for c := first + 1; c < min(first+arity, len(o.entries)); c++ {
		if o.less(o.entries[c], o.entries[least], s) {
			least = c
		}
	}
	return least
}
