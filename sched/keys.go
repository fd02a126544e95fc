package sched

import (
	"maps"
	"slices"

	"github.com/fairlead/fairlead/why"
)

// keys orders the open children of a pool under a keyed policy: one order for each
// drift, see [Drifter]. Policies whose keys do not drift have one.
type keys struct {
	orders []order
	number map[[2]float64]int32 // of each drift's order; nil if keys do not drift
	drifts [][2]float64         // of each order
	free   freeList             // orders that are empty, to be used again
}

func newKeys(drifts bool) keys {
	k := keys{}
	if drifts {
		k.number = map[[2]float64]int32{}
	} else {
		k.orders = make([]order, 1)
	}
	return k
}

// of is the number of a drift's order, which is made if need be.
func (k *keys) of(drift [2]float64) int32 {
	n, ok := k.number[drift]
	if !ok {
		if n = k.free.take(len(k.orders)); int(n) == len(k.orders) {
			k.orders, k.drifts = append(k.orders, order{}), append(k.drifts, drift)
		}
		k.number[drift], k.drifts[n] = n, drift
	}
	return n
}

// remove takes the child at a place out of an order. Drifts come and go: an order that
// is empty serves for the next.
func (k *keys) remove(drift int32, place int, s *Scheduler) {
	o := &k.orders[drift]
	o.remove(place, s)
	if k.number != nil && len(o.entries) == 0 {
		delete(k.number, k.drifts[drift])
		k.free = append(k.free, drift)
	}
}

func (k *keys) clear() {
	for i := range k.orders {
		k.orders[i].entries = k.orders[i].entries[:0]
	}
	if k.number != nil {
		k.orders, k.drifts, k.free = k.orders[:0], k.drifts[:0], k.free[:0]
		clear(k.number)
	}
}

func (k *keys) fork() {
	k.orders = slices.Clone(k.orders)
	for i := range k.orders {
		k.orders[i].entries = slices.Clone(k.orders[i].entries)
	}
	k.drifts, k.free = slices.Clone(k.drifts), slices.Clone(k.free)
	k.number = maps.Clone(k.number)
}

// len is how many children are in the orders.
func (k *keys) len() int {
	n := 0
	for i := range k.orders {
		n += len(k.orders[i].entries)
	}
	return n
}

// putKey puts a child into the order of its drift.
func (s *Scheduler) putKey(in *inner, id int32) {
	p, at := &s.pools[id], s.setting(in)
	t := in.keyed.Terms(p, at)
	p.tie, p.drift = t.Tie, 0
	if in.drifter != nil {
		p.drift = in.keys.of(in.drifter.Drift(p, at))
	}
	in.keys.orders[p.drift].push(rank{in.ranked(&t), id}, s)
}

// setKey computes the key of a child anew that is in an order.
func (s *Scheduler) setKey(in *inner, id int32) {
	p, at := &s.pools[id], s.setting(in)
	place := int(s.places[inKeyOrder][id])
	if in.drifter != nil {
		if to := in.keys.of(in.drifter.Drift(p, at)); to != p.drift {
			in.keys.remove(p.drift, place, s)
			s.putKey(in, id)
			return
		}
	}
	t := in.keyed.Terms(p, at)
	p.tie = t.Tie
	in.keys.orders[p.drift].set(place, in.ranked(&t), s)
}

// ranked is by what a child stands in its order.
func (in *inner) ranked(t *why.Terms) float64 {
	if in.drifter != nil {
		return t.Fixed
	}
	return t.Key
}

// freshen brings the key of the first child of an order up to date until it stays
// first: what the order goes by only rises with time, so what stands behind it cannot
// come before it.
func (s *Scheduler) freshen(in *inner, o *order, t *why.Terms) int32 {
	at := s.setting(in)
	for {
		first := o.entries[0]
		*t = in.keyed.Terms(&s.pools[first.child], at)
		if key := in.ranked(t); key > first.key {
			o.set(0, key, s)
			if o.entries[0].child != first.child {
				continue
			}
		}
		return first.child
	}
}

// leading is the child that goes first, with its terms; -1 if there is none.
func (s *Scheduler) leading(in *inner, best *why.Terms) int32 {
	if in.drifter == nil {
		if len(in.keys.orders[0].entries) == 0 {
			return -1
		}
		id := s.freshen(in, &in.keys.orders[0], best)
		if in.merger != nil {
			id = s.merge(in, id, best)
		}
		return id
	}
	leader := int32(-1)
	for i := range in.keys.orders {
		o := &in.keys.orders[i]
		if len(o.entries) == 0 {
			continue
		}
		var t why.Terms
		id := s.freshen(in, o, &t)
		id = s.tied(in, o, 0, id, &t)
		if leader < 0 || s.goesBefore(&t, id, best, leader) {
			leader, *best = id, t
		}
	}
	return leader
}

// tied looks, among the entries below i of an order, for children whose keys are the
// same to the last digit although what the order goes by is not, and returns the one
// that goes first.
func (s *Scheduler) tied(in *inner, o *order, i int, best int32, t *why.Terms) int32 {
	for c := arity*i + 1; c < min(arity*i+1+arity, len(o.entries)); c++ {
		if o.entries[c].key == o.entries[i].key {
			continue
		}
		id := o.entries[c].child
		u := in.keyed.Terms(&s.pools[id], s.setting(in))
		if u.Key > t.Key {
			continue
		}
		if s.goesBefore(&u, id, t, best) {
			best, *t = id, u
		}
		best = s.tied(in, o, c, best, t)
	}
	return best
}

// goesBefore reports whether the first child goes before the second. What orders children
// of one drift says nothing about those of another.
func (s *Scheduler) goesBefore(a *why.Terms, idA int32, b *why.Terms, idB int32) bool {
	switch {
	case a.Key != b.Key:
		return a.Key < b.Key
	case a.Tie != b.Tie:
		return a.Tie < b.Tie
	case a.Fixed != b.Fixed && s.pools[idA].drift == s.pools[idB].drift:
		return a.Fixed < b.Fixed
	}
	return idA < idB
}

// rival is the closest behind the leading child that is looked at: the second of its
// order, or the first of another.
func (s *Scheduler) rival(in *inner, leader int32, l *Level) {
	found, at := int32(-1), s.setting(in)
	for i := range in.keys.orders {
		o := &in.keys.orders[i]
		k := 0
		if int32(i) == s.pools[leader].drift && s.places[inKeyOrder][leader] == 0 {
			k = o.leastChild(0, s)
		}
		if k < 0 || k >= len(o.entries) {
			continue
		}
		id := o.entries[k].child
		if t := in.keyed.Terms(&s.pools[id], at); found < 0 || s.goesBefore(&t, id, &l.RivalTerms, found) {
			found, l.RivalTerms = id, t
		}
	}
	if found >= 0 {
		l.Rival = PoolID(found)
	}
}
