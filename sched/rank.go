package sched

import (
	"math"

	"github.com/fairlead/fairlead/why"
)

// rank updates the terms and the first jobs of a pool.
func (w *queues) rank(id int32) {
	st := &w.precedence.ranks.of[id]
	if st.relative < 0 {
		w.precedence.value(id)
	}
	st.rising, st.full = nowhere, nowhere
	p := &w.tree.pools[id]
	if p.inner < 0 {
		w.rankLeaf(id, st)
		return
	}
	in := &w.tree.inners[p.inner]
	if e := in.rising.entries; len(e) > 0 {
		st.rising = w.precedence.ranks.of[e[0].child].rising
	}
	if e := in.full.entries; len(e) > 0 {
		st.full = w.precedence.ranks.of[e[0].child].full
	}
}

// rankLeaf finds the first jobs among the sub-queues of a leaf pool.
func (w *queues) rankLeaf(id int32, st *worth) {
	r, q := w.precedence.ranks, &w.all[w.tree.pools[id].queue]
	own := st.fairshare + st.pool + st.assoc
	fills := math.Inf(1)
	for i := range q.subs() {
		sub := q.sub(i)
		if !sub.ready() {
			continue
		}
		h := w.oldest(q, sub)
		begun := r.at(h.since)
		at := place{-(own + w.precedence.commonPriority(sub.key, sub.class).sum), float64(h.id)}
		if r.now-begun >= r.full {
			if at.key -= r.full; at.before(st.full) {
				st.full = at
			}
			continue
		}
		if at.key += begun; at.before(st.rising) {
			st.rising = at
		}
		fills = min(fills, begun+r.full)
	}
	w.orders.stand(&r.fills, id, place{fills, 0})
}

// stand adds a pool to an order, moves it, or removes it if its key is infinite.
func (ord *orders) stand(o *order, id int32, at place) {
	switch i := ord.places[o.by][id]; {
	case math.IsInf(at.key, 1) && i >= 0:
		o.remove(int(i), ord)
	case math.IsInf(at.key, 1):
	case i < 0:
		o.push(rank{at, id}, ord)
	case o.entries[i].place != at:
		o.set(int(i), at, ord)
	}
}

// putRanks updates a pool's places in the ranked orders of its parent.
func (ord *orders) putRanks(in *inner, id int32) {
	if in.ranks {
		st := &ord.precedence.ranks.of[id]
		ord.stand(&in.rising, id, st.rising)
		ord.stand(&in.full, id, st.full)
	}
}

// chooseRanked chooses the child with the job of the highest priority.
func (e *choice) chooseRanked(in *inner, l *Level) int32 {
	id := e.firstRanked(in)
	l.Terms = e.rankTerms(in, id)
	if rival := e.secondRanked(in, id); rival >= 0 {
		l.Rival, l.RivalTerms = PoolID(rival), e.rankTerms(in, rival)
	}
	return id
}

// firstRanked returns the child whose first job goes first; -1 if there is none.
func (e *choice) firstRanked(in *inner) int32 {
	best := int32(-1)
	for _, o := range []*order{&in.rising, &in.full} {
		if len(o.entries) > 0 {
			best = e.better(best, o.entries[0].child)
		}
	}
	return best
}

// secondRanked returns the next child behind the first.
func (e *choice) secondRanked(in *inner, first int32) int32 {
	best := int32(-1)
	for _, o := range []*order{&in.rising, &in.full} {
		switch {
		case len(o.entries) == 0:
		case o.entries[0].child != first:
			best = e.better(best, o.entries[0].child)
		default:
			if i := o.leastChild(0); i >= 0 {
				best = e.better(best, o.entries[i].child)
			}
		}
	}
	return best
}

// better returns the one of two pools whose first job goes first.
func (e *choice) better(a, b int32) int32 {
	if r := e.precedence.ranks; a >= 0 && r.next(&r.of[a]).before(r.next(&r.of[b])) {
		return a
	}
	return b
}

// rankTerms returns the terms that compare a child: those of its first job.
func (e *choice) rankTerms(in *inner, id int32) why.Terms {
	if r := e.precedence.ranks.next(&e.precedence.ranks.of[id]); math.IsInf(r.key, 1) || !e.tree.pools[id].seat.in {
		return in.as.ranker.Rank(Ranked{Nice: math.Inf(1)}) // no job may start
	}
	for e.tree.pools[id].inner >= 0 {
		id = e.firstRanked(&e.tree.inners[e.tree.pools[id].inner])
	}
	at, h := e.queues.firstByRank(id)
	sub := e.queues.sub(at)
	r := e.precedence.rankedAs(id, sub.key, sub.class, h.since)
	r.Job = h.id
	return in.as.ranker.Rank(r)
}
