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

// before reports whether a goes before b. It reads nothing but the two, so that a heap touches little memory.
func (a rank) before(b rank) bool {
	return a.place.before(b.place) || a.place == b.place && a.child < b.child
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

// set changes the place of the entry at i and restores the order.
func (o *order) set(i int, at place, ord *orders) {
	o.entries[i].place = at
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
		if !r.before(o.entries[p]) {
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
		least := o.leastChild(i)
		if least < 0 || !o.entries[least].before(r) {
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
func (o *order) leastChild(i int) int {
	first := arity*i + 1
	if first >= len(o.entries) {
		return -1
	}
	least, best := first, o.entries[first]
	for c := first + 1; c < min(first+arity, len(o.entries)); c++ {
		if r := o.entries[c]; r.before(best) {
			least, best = c, r
		}
	}
	return least
}
