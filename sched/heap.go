package sched

// orders holds the orders of the children of each pool.
type orders struct {
	site       *site
	tariff     *tariff
	tree       *tree
	precedence *precedence

	dominants dominants
	owes      bool        // some pool counts deficits
	claims    [][]claimed // by dominant resource and pool, if some pool counts deficits
	holds     bool        // some pool compares the holdings of its children
	places    places
	deferred  bool // the orders are out of date until the next rebuild
}

// less is short, so that the compiler inlines it: most keys differ.
func (o *order) less(a, b rank, ord *orders) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	return o.lessTied(a, b, ord)
}

// lessTied is less for equal keys.
func (o *order) lessTied(a, b rank, ord *orders) bool {
	if x, y := ord.tie(o.by, a.child), ord.tie(o.by, b.child); x != y {
		return x < y
	}
	return a.child < b.child
}

// tie decides between equal keys.
func (ord *orders) tie(by int8, id int32) float64 {
	switch by {
	case inRisingOrder:
		return ord.precedence.ranks.of[id].rising.job
	case inFullOrder:
		return ord.precedence.ranks.of[id].full.job
	}
	return ord.tree.pools[id].seat.tie
}

func (o *order) push(r rank, ord *orders) {
	o.entries = append(o.entries, r)
	o.up(len(o.entries)-1, ord)
}

func (o *order) remove(i int, ord *orders) {
	last := len(o.entries) - 1
	ord.places[o.by][o.entries[i].child] = -1
	moved := o.entries[last]
	o.entries = o.entries[:last]
	if i == last {
		return
	}
	o.entries[i] = moved
	ord.places[o.by][moved.child] = int32(i)
	o.fix(i, ord)
}

// set changes the key at i and restores the order.
func (o *order) set(i int, key float64, ord *orders) {
	o.entries[i].key = key
	o.fix(i, ord)
}

func (o *order) fix(i int, ord *orders) {
	if !o.down(i, ord) {
		o.up(i, ord)
	}
}

func (o *order) up(i int, ord *orders) {
	r := o.entries[i]
	for i > 0 {
		p := (i - 1) / arity
		if !o.less(r, o.entries[p], ord) {
			break
		}
		o.entries[i] = o.entries[p]
		ord.places[o.by][o.entries[i].child] = int32(i)
		i = p
	}
	o.entries[i] = r
	ord.places[o.by][r.child] = int32(i)
}

// down reports whether the entry moved.
func (o *order) down(i int, ord *orders) bool {
	r, start := o.entries[i], i
	for {
		least := o.leastChild(i, ord)
		if least < 0 || !o.less(o.entries[least], r, ord) {
			break
		}
		o.entries[i] = o.entries[least]
		ord.places[o.by][o.entries[i].child] = int32(i)
		i = least
	}
	o.entries[i] = r
	ord.places[o.by][r.child] = int32(i)
	return i != start
}

// leastChild is the index of the first in order among the heap children of i, or -1.
func (o *order) leastChild(i int, ord *orders) int {
	first := arity*i + 1
	if first >= len(o.entries) {
		return -1
	}
	least, best := first, o.entries[first]
	for c := first + 1; c < min(first+arity, len(o.entries)); c++ {
		if r := o.entries[c]; o.less(r, best, ord) {
			least, best = c, r
		}
	}
	return least
}
