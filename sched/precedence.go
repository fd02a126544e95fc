package sched

import (
	"math"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// precedence computes the priorities of jobs under a [Ranker].
type precedence struct {
	site *site
	tree *tree

	ranks   *ranking  // nil if no pool has a [Ranker]
	factors []Factors // by class, from 1
	classOf map[Factors]Class
}

// The fairshare factor of a pool follows Slurm's classic formula:
//
//	factor = 2^(-usage / share)
//
// In it, "share" is a product: the fraction of the pool among its siblings times the fractions of the pools above,
// up to the pool that compares the jobs. The term "usage" is the fraction of that pool's decayed service that this
// pool received. Below the first level, usage lies between this fraction and the usage of the pool above. The
// larger the pool's fraction among its siblings is, the nearer its usage is to that of the pool above. So a pool
// whose siblings use much is not served as if it were alone.
//
// The usage of all pools is recomputed at intervals, and when a node joins; in between, the usage of a pool
// is recomputed when one of its tasks ends. Fractions are only recomputed together with all usage.

// value computes the terms that a pool contributes to the priorities of its jobs.
func (e *precedence) value(id int32) {
	st := &e.ranks.of[id]
	st.pool, st.assoc = e.factorTerms(id)
	st.relative, st.share, st.usage = 1, 1, 1
	above := e.tree.pools[id].parent
	if above < 0 || !e.tree.inners[e.tree.pools[above].inner].ranks { // the jobs are compared in it
		st.fairshare = e.ranks.exact(e.site.cfg.Multifactor.Fairshare)
		return
	}
	up := &e.ranks.of[above]
	if e.tree.labels[id].kind == priorityClass { // part of its leaf
		st.share, st.usage, st.fairshare = up.share, up.usage, up.fairshare
		return
	}
	weight := e.tree.pools[id].Weight
	st.relative = part(weight, up.weighed)
	if !e.tree.counts(id) || up.weighed == 0 {
		st.relative = part(weight, up.weighed+weight)
	}
	e.use(id)
}

// use computes the usage of a pool and its fairshare term. The pools above must be up to date.
func (e *precedence) use(id int32) {
	st := &e.ranks.of[id]
	above := e.tree.pools[id].parent
	if above < 0 || !e.tree.inners[e.tree.pools[above].inner].ranks {
		return
	}
	up := &e.ranks.of[above]
	if e.tree.labels[id].kind == priorityClass {
		st.share, st.usage, st.fairshare = up.share, up.usage, up.fairshare
		return
	}
	st.share = up.share * st.relative
	top := e.tree.compared(id)
	st.usage = part(max(0, e.tree.pools[id].Service(e.site.now)), e.tree.pools[top].Service(e.site.now))
	if above != top {
		st.usage += (up.usage - st.usage) * st.relative
	}
	factor := 0.0
	if st.share > 0 {
		factor = math.Exp2(-st.usage / st.share)
	}
	st.fairshare = e.ranks.exact(e.site.cfg.Multifactor.Fairshare * factor)
}

// valueAll recomputes the terms and the usage of all pools, and drops the terms of all sub-queues.
func (e *precedence) valueAll() {
	if e.ranks == nil {
		return
	}
	e.ranks.capacity, _ = e.site.cluster.Capacity()
	e.ranks.precedence = map[commonPriorityKey]*commonPriority{}
	e.valueBelow(int32(Root))
}

func (e *precedence) valueBelow(id int32) {
	e.value(id)
	if e.tree.pools[id].inner < 0 {
		return
	}
	kids := e.tree.inners[e.tree.pools[id].inner].kids
	st := &e.ranks.of[id]
	st.weighed = 0
	for _, kid := range kids {
		if e.tree.counts(kid) {
			st.weighed += e.tree.pools[kid].Weight
		}
	}
	for _, kid := range kids {
		e.valueBelow(kid)
	}
}

// factorTerms returns the terms from the configured factors of a pool: its own, or those of the nearest pool above
// that has them.
func (e *precedence) factorTerms(id int32) (pool, assoc float64) {
	p, a := 0.0, 0.0
	for at, foundP, foundA := id, false, false; at >= 0; at = e.tree.pools[at].parent {
		l := &e.tree.labels[at]
		if l.factor != nil && !foundP {
			p, foundP = *l.factor, true
		}
		if l.assoc != nil && !foundA {
			a, foundA = *l.assoc, true
		}
	}
	return e.ranks.exact(e.site.cfg.Multifactor.Pool * p), e.ranks.exact(e.site.cfg.Multifactor.Assoc * a)
}

// commonPriority returns the terms of a key and a class, and caches them until all terms are recomputed.
func (e *precedence) commonPriority(key cluster.Key, c Class) *commonPriority {
	r := e.ranks
	at := commonPriorityKey{key, c}
	m, ok := r.precedence[at]
	if !ok {
		m = e.newCommonPriority(key, e.factorsOf(c))
		r.precedence[at] = m
	}
	return m
}

func (e *precedence) newCommonPriority(key cluster.Key, t Factors) *commonPriority {
	r, cfg := e.ranks, &e.site.cfg.Multifactor
	m := &commonPriority{
		size: r.exact(cfg.Size * e.sizeFactor(key, t)),
		qos:  r.exact(cfg.QOS * cfg.Levels[t.QOS]),
		site: r.exact(cfg.Site * t.Site),
		nice: r.exact(float64(t.Nice)),
	}
	tres, tasks := 0.0, float64(e.site.atOnce(key))
	for number, n := range e.site.cluster.Request(key) {
		tres += cfg.TRES[e.site.cluster.Resource(number)] * part(tasks*float64(n), r.capacityOf(number))
	}
	m.tres = r.exact(tres)
	m.sum = m.size + m.qos + m.tres + m.site - m.nice
	return m
}

// sizeFactor is the fraction of the cluster that one task, or a whole gang, asks for. If it is relative to the time
// limit, it is 0 for a job without one.
func (e *precedence) sizeFactor(key cluster.Key, t Factors) float64 {
	cfg := &e.site.cfg.Multifactor
	size := float64(e.site.atOnce(key)) * e.site.cluster.Width(key)
	if cfg.RelativeToTime {
		if t.Minutes <= 0 {
			return 0
		}
		size /= t.Minutes
	}
	f := part(size, e.ranks.capacityOf(0))
	if cfg.Small {
		return 1 - f
	}
	return f
}

// Class returns the number of the factors.
func (e *precedence) Class(t Factors) Class {
	if t == (Factors{}) {
		return 0
	}
	c, ok := e.classOf[t]
	if !ok {
		c = Class(len(e.factors) + 1)
		e.factors = append(e.factors, t)
		e.classOf[t] = c
	}
	return c
}

// factorsOf returns the factors with a number.
func (e *precedence) factorsOf(c Class) Factors {
	if c == 0 {
		return Factors{}
	}
	return e.factors[c-1]
}

// placeOf is the place of a job of a sub-queue among the jobs of its leaf pool.
func (e *precedence) placeOf(sub *subQueue, since time.Duration, id int64) place {
	age := min(e.ranks.now-e.ranks.at(since), e.ranks.full)
	return place{-(e.commonPriority(sub.key, sub.class).sum + age), float64(id)}
}

// setRanks starts or stops keeping priorities when the configuration changes.
func (e *precedence) setRanks() {
	ranks := isRanker(&e.site.cfg, &e.site.cfg.Root)
	for _, p := range e.site.cfg.Root.All() {
		ranks = ranks || p.Policy != "" && isRanker(&e.site.cfg, p)
	}
	if !ranks {
		e.ranks = nil
		return
	}
	e.ranks = &ranking{ages: newAges(&e.site.cfg.Multifactor), fills: order{by: inFillOrder}}
	e.ranks.now = e.ranks.at(since(e.site.at))
	e.ranks.grow(len(e.tree.pools))
}

// rankedAs is the priority of a job in a leaf pool, term by term.
func (e *precedence) rankedAs(leaf int32, key cluster.Key, c Class, since time.Duration) Ranked {
	st, m := &e.ranks.of[leaf], e.commonPriority(key, c)
	return Ranked{
		Age:       min(e.ranks.now-e.ranks.at(since), e.ranks.full),
		Fairshare: st.fairshare, Pool: st.pool, Assoc: st.assoc,
		Size: m.size, QOS: m.qos, TRES: m.tres, Site: m.site, Nice: m.nice,
	}
}
