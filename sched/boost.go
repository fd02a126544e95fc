package sched

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/share"
)

// EndedBoosts returns the boosts that ended since the last call.
func (v *overrides) EndedBoosts() []Boost {
	ended := v.boosts.ended
	v.boosts.ended = nil
	return ended
}

func (v *overrides) boostNow(b *boost) Boost {
	now := b.Boost
	now.Had = v.had(b)
	return now
}

// had is the service that the boosted pool has received by now.
func (v *overrides) had(b *boost) float64 {
	if b.pool < 0 {
		return b.Had
	}
	return b.Had + v.tree.pools[b.pool].Rate*v.site.at.Sub(b.since).Seconds()
}

// enter adds a boost without changing the weight of its pool.
func (v *overrides) enter(b Boost, pool int32) (slot int32) {
	slot = v.boosts.free.take(len(v.boosts.slots))
	if int(slot) == len(v.boosts.slots) {
		v.boosts.slots = append(v.boosts.slots, boost{})
	}
	v.boosts.slots[slot] = boost{Boost: b, pool: pool, since: v.site.at}
	v.bind(slot, pool)
	heap.Push(boostHeap{&v.boosts}, slot)
	return slot
}

// bind attaches a boost to its pool.
func (v *overrides) bind(slot, pool int32) {
	b := &v.boosts.slots[slot]
	if pool >= 0 {
		if v.boosts.of == nil {
			v.boosts.of = map[int32][]int32{}
		}
		v.boosts.of[pool] = append(v.boosts.of[pool], slot)
		b.pool, b.since = pool, v.site.at
	}
	b.end = v.endOf(b)
}

// bindNew attaches the boosts that wait for a new pool to it.
func (v *overrides) bindNew(id int32) {
	if len(v.boosts.absent) == 0 {
		return
	}
	path := v.tree.Path(PoolID(id))
	for _, slot := range v.boosts.absent[path] {
		v.bind(slot, id)
		heap.Fix(boostHeap{&v.boosts}, int(v.boosts.slots[slot].place))
	}
	delete(v.boosts.absent, path)
	v.tree.pools[id].Weight = v.weightOf(id)
}

// drop removes a boost without changing the weight of its pool.
func (v *overrides) drop(slot int32) {
	b := &v.boosts.slots[slot]
	heap.Remove(boostHeap{&v.boosts}, int(b.place))
	is := func(n int32) bool { return n == slot }
	if b.pool < 0 {
		if v.boosts.absent[b.Pool] = slices.DeleteFunc(v.boosts.absent[b.Pool], is); len(v.boosts.absent[b.Pool]) == 0 {
			delete(v.boosts.absent, b.Pool)
		}
	} else if v.boosts.of[b.pool] = slices.DeleteFunc(v.boosts.of[b.pool], is); len(v.boosts.of[b.pool]) == 0 {
		delete(v.boosts.of, b.pool)
	}
	v.boosts.slots[slot] = boost{}
	v.boosts.free = append(v.boosts.free, slot)
}

// weightOf is the weight of a pool with its boosts. Without boosts it is the configured weight, to the last bit.
func (v *overrides) weightOf(id int32) float64 {
	w := v.tree.labels[id].weight
	for _, slot := range v.boosts.of[id] {
		w *= v.boosts.slots[slot].Factor
	}
	if w == v.tree.labels[id].weight {
		return w
	}
	return math.Min(math.Max(w, 1/share.MaxWeight), share.MaxWeight)
}

// reweigh applies the weights of pools, as a new configuration does.
func (v *overrides) reweigh(pools ...int32) {
	pools = slices.DeleteFunc(pools, func(id int32) bool { return v.tree.pools[id].Weight == v.weightOf(id) })
	if len(pools) == 0 {
		return
	}
	before := v.tree.remember()
	v.orders.deferred = true
	for _, id := range pools {
		v.tree.pools[id].Weight = v.weightOf(id)
	}
	v.tree.carry(before)
	v.turns.rebuild()
}

// next is when the next boost or pause ends; zero if none does.
func (v *overrides) next() time.Time { return earlier(v.boosts.next(), v.pauses.next) }

// endBoosts ends the boosts that are due.
func (v *overrides) endBoosts() {
	var pools []int32
	for next := v.boosts.next(); !next.IsZero() && !next.After(v.site.at); next = v.boosts.next() {
		slot := v.boosts.ends[0]
		b := &v.boosts.slots[slot]
		if b.pool >= 0 {
			pools = append(pools, b.pool)
		}
		v.spend(b)
		if !b.Starter {
			v.boosts.ended = append(v.boosts.ended, v.boostNow(b))
		}
		v.drop(slot)
	}
	v.reweigh(pools...)
}

// endOf predicts the end of a boost from the present state. This is exact until the next event, because the
// running tasks of a pool receive service at a constant rate.
func (v *overrides) endOf(b *boost) time.Time {
	end := b.Until
	if b.Usage <= 0 || b.pool < 0 || v.tree.pools[b.pool].Rate <= 0 {
		return end
	}
	left := math.Max(0, b.Usage-b.Had)
	wait := math.Ceil(left / v.tree.pools[b.pool].Rate * 1e9)
	if wait > math.MaxInt64/4 {
		return end
	}
	if at := b.since.Add(time.Duration(wait)); end.IsZero() || at.Before(end) {
		end = at
	}
	return end
}

// charge counts the service of a pool and the pools above it, before their running tasks change.
func (v *overrides) charge(leaf int32) {
	if len(v.boosts.of) == 0 {
		return
	}
	for id := leaf; id >= 0; id = v.tree.pools[id].parent {
		for _, slot := range v.boosts.of[id] {
			b := &v.boosts.slots[slot]
			b.Had, b.since = v.had(b), v.site.at
		}
	}
}

// forecastEnds recomputes the ends of boosts after the running tasks have changed.
func (v *overrides) forecastEnds(leaf int32) {
	if len(v.boosts.of) == 0 {
		return
	}
	for id := leaf; id >= 0; id = v.tree.pools[id].parent {
		for _, slot := range v.boosts.of[id] {
			b := &v.boosts.slots[slot]
			if b.Usage > 0 {
				b.end = v.endOf(b)
				heap.Fix(boostHeap{&v.boosts}, int(b.place))
			}
		}
	}
}

// refund takes back the service of a task that did not start after all.
func (v *overrides) refund(r *run) {
	if len(v.boosts.of) == 0 {
		return
	}
	for id := r.pool; id >= 0; id = v.tree.pools[id].parent {
		for _, slot := range v.boosts.of[id] {
			b := &v.boosts.slots[slot]
			b.Had = math.Max(0, b.Had-r.rate()*v.site.at.Sub(r.started).Seconds())
		}
	}
	v.forecastEnds(r.pool)
}

// spend records the service of a pool when its starter is used up.
func (v *overrides) spend(b *boost) {
	if had := v.had(b); b.Starter && b.Usage > 0 && had >= b.Usage*(1-1e-9) {
		if v.boosts.spent == nil {
			v.boosts.spent = map[int32]float64{}
		}
		v.boosts.spent[b.pool] = had
	}
}
