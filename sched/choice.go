package sched

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// choice walks down the tree to the leaf that goes first.
type choice struct {
	site       *site
	tree       *tree
	precedence *precedence
	orders     *orders
	queues     *queues

	rng rand.PCG
}

// random returns a number in [0, 1).
func (e *choice) random() float64 { return float64(e.rng.Uint64()>>11) / (1 << 53) }

// chooseFirst returns the child that goes first by its key.
func (e *choice) chooseFirst(in *inner, l *Level) int32 {
	id := e.leading(in, &l.Terms)
	if in.as.carrier != nil {
		in.clock = math.Max(in.clock, in.as.carrier.Level(&e.tree.pools[id], e.site.now))
	}
	l.byKey = true
	return id
}

// leading returns the child that goes first, and its terms; -1 if there is none.
func (e *choice) leading(in *inner, best *why.Terms) int32 {
	if in.as.drifter == nil {
		if len(in.keys.orders[0].entries) == 0 {
			return -1
		}
		at := e.orders.setting(in)
		id := e.freshen(in, &in.keys.orders[0], &at, best)
		if in.as.merger != nil {
			id = e.merge(in, id, best)
		}
		return id
	}
	leader, at := int32(-1), e.orders.settingNow(in)
	for o := range in.orders(&at) {
		var t why.Terms
		id := e.freshen(in, o, &at, &t)
		id = e.tied(in, o, &at, 0, id, &t)
		if leader < 0 || goesBefore(&t, id, best, leader, false) {
			leader, *best = id, t
		}
	}
	return leader
}

// freshen updates the key of the first child of an order until a child stays first. The number that sorts an order
// only rises with time, so no child behind the first can overtake it.
func (e *choice) freshen(in *inner, o *order, at *Setting, t *why.Terms) int32 {
	for {
		first := o.entries[0]
		*t = in.as.keyed.Terms(&e.tree.pools[first.child], *at)
		if key := in.ranked(t); key > first.key {
			o.set(0, place{key, first.tie}, e.orders)
			if o.entries[0].child != first.child {
				continue
			}
		}
		return first.child
	}
}

// tied searches the entries below i of an order for children with exactly equal keys but different sort numbers,
// and returns the one that goes first.
func (e *choice) tied(in *inner, o *order, at *Setting, i int, best int32, t *why.Terms) int32 {
	for c := arity*i + 1; c < min(arity*i+1+arity, len(o.entries)); c++ {
		if o.entries[c].key == o.entries[i].key {
			continue
		}
		id := o.entries[c].child
		u := in.as.keyed.Terms(&e.tree.pools[id], *at)
		if u.Key > t.Key {
			continue
		}
		if goesBefore(&u, id, t, best, true) {
			best, *t = id, u
		}
		best = e.tied(in, o, at, c, best, t)
	}
	return best
}

// goesBefore reports whether child A goes before child B. The flag "same" means that the two have equal drift. Only
// then can goesBefore compare their numbers Fixed.
func goesBefore(a *why.Terms, idA int32, b *why.Terms, idB int32, same bool) bool {
	switch {
	case a.Key != b.Key:
		return a.Key < b.Key
	case a.Tie != b.Tie:
		return a.Tie < b.Tie
	case a.Fixed != b.Fixed && same:
		return a.Fixed < b.Fixed
	}
	return idA < idB
}

// goesBeforeNow compares two children by their terms, in their present settings.
func (e *choice) goesBeforeNow(in *inner, a *why.Terms, idA int32, b *why.Terms, idB int32) bool {
	same := true
	if in.as.drifter != nil {
		same = in.as.drifter.Drift(&e.tree.pools[idA], e.orders.settingOf(in,
			idA)) == in.as.drifter.Drift(&e.tree.pools[idB], e.orders.settingOf(in, idB))
	}
	return goesBefore(a, idA, b, idB, same)
}

// rival finds the closest child behind the leading one: the second of its order, or the first of another order.
func (e *choice) rival(in *inner, leader int32, l *Level) {
	found, at := int32(-1), e.orders.settingNow(in)
	if in.as.drifter == nil {
		found = e.rivalIn(in, &in.keys.orders[0], leader, found, &at, l)
	} else {
		for o := range in.orders(&at) {
			found = e.rivalIn(in, o, leader, found, &at, l)
		}
	}
	if found >= 0 {
		l.Rival = PoolID(found)
		e.rankRival(in, l)
	}
}

// rivalIn returns the first child of an order beside the leading one, if it goes before the best one found so far.
func (e *choice) rivalIn(in *inner, o *order, leader, found int32, at *Setting, l *Level) int32 {
	k := 0
	if o.entries[0].child == leader {
		k = o.leastChild(0)
	}
	if k < 0 {
		return found
	}
	id := o.entries[k].child
	t := in.as.keyed.Terms(&e.tree.pools[id], *at)
	if found >= 0 && !goesBefore(&t, id, &l.RivalTerms, found, false) {
		return found
	}
	l.RivalTerms = t
	return id
}

// Under a [Merger], tied children that have children of their own go in the order of those. The first child of each
// is compared as if all these first children had the same parent.

// merge finds the children that tie with the leading one, and returns the one whose own first child goes first.
// Children without any service all tie, and so do the children below them that have a weight: no leaf pool among
// these goes before another.
func (e *choice) merge(in *inner, leader int32, t *why.Terms) int32 {
	if !e.tree.pools[leader].Divides() || t.Key == 0 && e.unbeaten(leader) {
		return leader
	}
	o := &in.keys.orders[0]
	tied := e.tiesOf(in, o, 0, t.Key, nil)
	for _, id := range tied {
		if id != leader && e.tree.pools[id].Divides() && e.leads(id, leader) {
			leader = id
		}
	}
	*t = in.as.keyed.Terms(&e.tree.pools[leader], e.orders.setting(in))
	return leader
}

// unbeaten reports whether the first child of a pool without any service is a leaf pool with a weight.
func (e *choice) unbeaten(id int32) bool {
	in := &e.tree.inners[e.tree.pools[id].inner]
	if in.as.merger == nil || in.open == 0 {
		return true
	}
	var t why.Terms
	first := &e.tree.pools[e.leading(in, &t)]
	return !first.Divides() && first.Weight > 0
}

// leads reports whether the first child of pool a goes before that of pool b. A pool whose own policy does not merge
// counts as one without children, as a user does, so it goes first.
func (e *choice) leads(a, b int32) bool {
	ina, inb := &e.tree.inners[e.tree.pools[a].inner], &e.tree.inners[e.tree.pools[b].inner]
	if ma, mb := ina.merges(), inb.merges(); !ma || !mb {
		return !ma && mb || ma == mb && a < b
	}
	var ta, tb why.Terms
	x, y := e.leading(ina, &ta), e.leading(inb, &tb)
	if c := e.tree.compareParts(x, y); c != 0 {
		return c < 0
	}
	dx, dy := e.tree.pools[x].Divides(), e.tree.pools[y].Divides()
	switch {
	case dx != dy:
		return dy
	case !dx:
		return a < b
	}
	return e.leads(x, y)
}

// tiesOf collects the children at and below i whose key is key.
func (e *choice) tiesOf(in *inner, o *order, i int, key float64, found []int32) []int32 {
	if i >= len(o.entries) || o.entries[i].key > key {
		return found
	}
	id := o.entries[i].child
	if in.as.keyed.Terms(&e.tree.pools[id], e.orders.setting(in)).Key == key {
		found = append(found, id)
	}
	for c := arity*i + 1; c <= arity*i+arity; c++ {
		found = e.tiesOf(in, o, c, key, found)
	}
	return found
}

// rankRival is rankTies for the two children of a decision already made.
func (e *choice) rankRival(in *inner, l *Level) {
	if in.as.merger == nil || l.Terms.Key != l.RivalTerms.Key {
		return
	}
	pair := []candidate{{id: int32(l.Child), terms: l.Terms}, {id: int32(l.Rival), terms: l.RivalTerms}}
	e.rankTies(in, pair)
	l.Terms, l.RivalTerms = pair[0].terms, pair[1].terms
}

// rankTies ranks tied candidates under a merger by their children, so that the numbers shown are the numbers
// compared.
func (e *choice) rankTies(in *inner, all []candidate) {
	if in.as.merger == nil {
		return
	}
	tied := map[float64][]int{}
	for i := range all {
		if p := &e.tree.pools[all[i].id]; p.Divides() && p.seat.in {
			tied[all[i].terms.Key] = append(tied[all[i].terms.Key], i)
		}
	}
	for key, places := range tied {
		oldest := slices.MinFunc(places, func(i, k int) int { return cmp.Compare(all[i].id, all[k].id) })
		if len(places) < 2 || key == 0 && e.unbeaten(all[oldest].id) {
			continue
		}
		slices.SortFunc(places, func(i, k int) int {
			if e.leads(all[i].id, all[k].id) {
				return -1
			}
			return 1
		})
		for rank, i := range places {
			all[i].terms.Tie = 1 + float64(rank)
		}
	}
}

// candidate is one child of a pool with its compared numbers.
type candidate struct {
	id       int32
	belowMin bool
	terms    why.Terms
	drift    [2]float64
}

func (c candidate) result() float64 {
	if c.terms.Formula == nil {
		return c.terms.Key
	}
	return c.terms.Formula.Result(c.terms.Key)
}

func (c candidate) compare(d candidate) int {
	if c.belowMin != d.belowMin {
		if c.belowMin {
			return -1
		}
		return 1
	}
	fixed := 0
	if c.drift == d.drift {
		fixed = cmp.Compare(c.terms.Fixed, d.terms.Fixed)
	}
	return cmp.Or(cmp.Compare(c.terms.Key, d.terms.Key), cmp.Compare(c.terms.Tie, d.terms.Tie), fixed,
		cmp.Compare(c.id, d.id))
}

func (c candidate) before(d candidate) bool { return c.compare(d) < 0 }

// compareParts orders children of different pools by their fraction of their siblings' usage over their fraction of
// the siblings' weights: smallest first, and exactly.
func (t *tree) compareParts(x, y int32) int {
	px, py := &t.pools[x], &t.pools[y]
	inx, iny := t.parentOf(x), t.parentOf(y)
	if px.Weight == 0 || py.Weight == 0 {
		return cmp.Compare(py.Weight, px.Weight)
	}
	// If one has no service, the pools above it may have none, either.
	if ux, uy := px.Service(t.site.now), py.Service(t.site.now); ux <= 0 || uy <= 0 {
		return cmp.Compare(math.Max(0, ux), math.Max(0, uy))
	}
	left := usage.Product(px.Service(t.site.now), inx.counted.value(), py.Weight, t.pools[iny.id].Service(t.site.now))
	right := usage.Product(py.Service(t.site.now), iny.counted.value(), px.Weight, t.pools[inx.id].Service(t.site.now))
	return left.Cmp(right)
}
