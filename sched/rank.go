package sched

import (
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// Ranker is a policy that serves the jobs in and below a pool by a priority of their
// own, whichever child they are in. The scheduler keeps the priorities, under
// [Config.Multifactor]; the policy has the formula.
type Ranker interface {
	Policy
	// Rank makes of the priority of a child's first job what children are compared by:
	// the largest priority has the smallest key, and the smaller job the smaller tie.
	Rank(r Ranked) why.Terms
}

// ranking is what the scheduler keeps besides where some pool has a [Ranker].
//
// All jobs below the maximum age grow older alike, so that their order never changes;
// and so it is with those above it, whose age counts no further. Each pool therefore
// stands in two orders of its parent, by its first job of either sort, in which nothing
// moves as time passes, and a choice compares the first of both. What does happen with
// time is that a job passes the maximum age: fills says in which leaf this is next.
type ranking struct {
	ages
	now      float64        // the clock of ages at the last event
	capacity cluster.Vector // on which the merits were computed
	merits   map[meritKey]*merit
	of       []worth // by pool
	fills    order   // leaves by when their next job passes the maximum age
}

// worth is what a pool is worth to the jobs in it, and its first jobs.
type worth struct {
	weighed  float64 // of its children: the sum of the weights of those that counted
	relative float64 // its part among its siblings; below 0: not computed yet
	share    float64 // its part of the pool in which the jobs are compared
	usage    float64 // what it used of that, as far as it is held against it

	fairshare, pool, assoc float64 // terms

	rising place // of the first job below the maximum age; what orders it is key + clock
	full   place // of the first job above it
}

// place is where a job goes in an order: smallest first.
type place struct{ key, job float64 }

var nowhere = place{math.Inf(1), math.Inf(1)}

func (p place) before(q place) bool {
	if p.key != q.key {
		return p.key < q.key
	}
	return p.job < q.job
}

// next is the place of the first job of both sorts, by its key at this instant.
func (r *ranking) next(st *worth) place {
	rising := place{st.rising.key - r.now, st.rising.job}
	if rising.before(st.full) {
		return rising
	}
	return st.full
}

// setRanks begins to keep priorities, or ends it, when the configuration changes.
func (s *Scheduler) setRanks() {
	ranks := isRanker(&s.cfg, &s.cfg.Root)
	for _, p := range s.cfg.Root.All() {
		ranks = ranks || p.Policy != "" && isRanker(&s.cfg, p)
	}
	if !ranks {
		s.ranks = nil
		return
	}
	s.ranks = &ranking{ages: newAges(&s.cfg.Multifactor), fills: order{by: inFillOrder}}
	s.ranks.now = s.ranks.at(since(s.at))
	s.ranks.grow(len(s.pools))
}

func isRanker(cfg *Config, p *share.Pool) bool {
	_, yes := cfg.NewPolicy(p.Policy, p.Options).(Ranker)
	return yes
}

func (r *ranking) grow(pools int) {
	for len(r.of) < pools {
		r.of = append(r.of, worth{relative: -1, rising: nowhere, full: nowhere})
	}
}

// ranked reports whether a leaf serves its jobs by their priority.
func (s *Scheduler) ranked(id int32) bool {
	_, yes := s.policyOf(id).(Ranker)
	return yes
}

// age moves the clock of ages, and lets the jobs pass that have come to the maximum age.
func (s *Scheduler) age() {
	r := s.ranks
	if r == nil || s.deferred {
		return
	}
	r.now = r.at(since(s.at))
	for len(r.fills.entries) > 0 && r.fills.entries[0].key <= r.now {
		leaf := r.fills.entries[0].child
		r.fills.remove(0, s)
		s.settle(leaf)
	}
}

// rank brings what a pool is worth up to date.
func (s *Scheduler) rank(id int32) {
	st := &s.ranks.of[id]
	if st.relative < 0 {
		s.value(id)
	}
	st.rising, st.full = nowhere, nowhere
	p := &s.pools[id]
	if p.inner < 0 {
		s.rankLeaf(id, st)
		return
	}
	in := &s.inners[p.inner]
	if e := in.rising.entries; len(e) > 0 {
		st.rising = s.ranks.of[e[0].child].rising
	}
	if e := in.full.entries; len(e) > 0 {
		st.full = s.ranks.of[e[0].child].full
	}
}

// rankLeaf looks at the first jobs of a leaf's lines.
func (s *Scheduler) rankLeaf(id int32, st *worth) {
	r, q := s.ranks, &s.queues[s.pools[id].queue]
	own := st.fairshare + st.pool + st.assoc
	fills := math.Inf(1)
	for i := range q.lines() {
		l := q.line(i)
		if !l.ready() {
			continue
		}
		h := s.oldest(q, l)
		begun := r.at(h.since)
		at := place{-(own + s.merit(l.shape, l.class).sum), float64(h.id)}
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
	s.stand(&r.fills, id, fills)
}

// stand puts a pool into an order by its key, moves it, or takes it out if the key is
// infinite.
func (s *Scheduler) stand(o *order, id int32, key float64) {
	switch i := s.places[o.by][id]; {
	case math.IsInf(key, 1) && i >= 0:
		o.remove(int(i), s)
	case math.IsInf(key, 1):
	case i >= 0:
		o.set(int(i), key, s)
	default:
		o.push(rank{key, id}, s)
	}
}

// putRanks keeps a pool's place in the orders of its parent.
func (s *Scheduler) putRanks(in *inner, id int32) {
	if in.ranks {
		st := &s.ranks.of[id]
		s.stand(&in.rising, id, st.rising.key)
		s.stand(&in.full, id, st.full.key)
	}
}

// chooseRanked takes the child that holds the job of the highest priority.
func (s *Scheduler) chooseRanked(in *inner, l *Level) int32 {
	id := s.firstRanked(in)
	l.Terms = s.rankTerms(in, id)
	if rival := s.secondRanked(in, id); rival >= 0 {
		l.Rival, l.RivalTerms = PoolID(rival), s.rankTerms(in, rival)
	}
	return id
}

// firstRanked is the child whose first job goes first; -1 if there is none.
func (s *Scheduler) firstRanked(in *inner) int32 {
	best := int32(-1)
	for _, o := range []*order{&in.rising, &in.full} {
		if len(o.entries) > 0 {
			best = s.better(best, o.entries[0].child)
		}
	}
	return best
}

// secondRanked is the one behind it.
func (s *Scheduler) secondRanked(in *inner, first int32) int32 {
	best := int32(-1)
	for _, o := range []*order{&in.rising, &in.full} {
		switch {
		case len(o.entries) == 0:
		case o.entries[0].child != first:
			best = s.better(best, o.entries[0].child)
		default:
			if i := o.leastChild(0, s); i >= 0 {
				best = s.better(best, o.entries[i].child)
			}
		}
	}
	return best
}

// better is the one of two pools whose first job goes first.
func (s *Scheduler) better(a, b int32) int32 {
	if r := s.ranks; a >= 0 && r.next(&r.of[a]).before(r.next(&r.of[b])) {
		return a
	}
	return b
}

// rankTerms are what a child is compared by: the terms of the first job in it.
func (s *Scheduler) rankTerms(in *inner, id int32) why.Terms {
	if r := s.ranks.next(&s.ranks.of[id]); math.IsInf(r.key, 1) || !s.pools[id].in {
		return in.ranker.Rank(Ranked{Nice: math.Inf(1)}) // nothing waits that may start
	}
	for s.pools[id].inner >= 0 {
		id = s.firstRanked(&s.inners[s.pools[id].inner])
	}
	at, h := s.firstByRank(id)
	l := s.line(at)
	r := s.rankedAs(id, l.shape, l.class, h.since)
	r.Job = h.id
	return in.ranker.Rank(r)
}

// rankedAs is the priority of a job in a leaf.
func (s *Scheduler) rankedAs(leaf int32, shape cluster.Shape, c Class, since time.Duration) Ranked {
	st, m := &s.ranks.of[leaf], s.merit(shape, c)
	return Ranked{
		Age:       min(s.ranks.now-s.ranks.at(since), s.ranks.full),
		Fairshare: st.fairshare, Pool: st.pool, Assoc: st.assoc,
		Size: m.size, QOS: m.qos, TRES: m.tres, Site: m.site, Nice: m.nice,
	}
}

// firstByRank is the line of a leaf whose first job has the highest priority, of those
// that are ready.
func (s *Scheduler) firstByRank(leaf int32) (lineRef, head) {
	n := s.pools[leaf].queue
	q := &s.queues[n]
	at, best, first := int32(-1), head{}, nowhere
	for i := range q.lines() {
		l := q.line(i)
		if !l.ready() {
			continue
		}
		h := s.oldest(q, l)
		if p := s.placeOf(l, h.since, h.id); at < 0 || p.before(first) {
			at, best, first = int32(i), h, p
		}
	}
	return lineRef{n, at}, best
}

func (r *ranking) fork() *ranking {
	f := *r
	f.of = slices.Clone(r.of)
	f.fills.entries = slices.Clone(r.fills.entries)
	f.merits = make(map[meritKey]*merit, len(r.merits)) // they are the same when they are made again
	for k, m := range r.merits {
		f.merits[k] = m
	}
	return &f
}
