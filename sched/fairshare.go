package sched

import (
	"math"
	"time"
)

// How much of its share a pool has used is computed as by Slurm's classic formula:
//
//	factor = 2^(-usage / share)
//
// share is the product of the pool's part among its siblings and those of the pools
// above, up to the pool in which the jobs are compared. usage is the pool's part of what
// that pool received, decayed; below the first level, it lies between this and the usage
// of the pool above, in proportion to the pool's part among its siblings, so that a pool
// whose siblings use much is not served as if it were alone.
//
// The usage of all pools is computed anew at intervals, and when a node joins; in
// between, that of a pool is when a task of it ends. Parts are only computed with all.

// value computes what a pool is worth to the jobs in it.
func (s *Scheduler) value(id int32) {
	st := &s.ranks.of[id]
	st.pool, st.assoc = s.factorTerms(id)
	st.relative, st.share, st.usage = 1, 1, 1
	above := s.pools[id].parent
	if above < 0 || !s.inners[s.pools[above].inner].ranks { // the jobs are compared in it
		st.fairshare = s.ranks.exact(s.cfg.Multifactor.Fairshare)
		return
	}
	up := &s.ranks.of[above]
	if s.labels[id].kind == band { // part of its leaf
		st.share, st.usage, st.fairshare = up.share, up.usage, up.fairshare
		return
	}
	weight := s.pools[id].Weight
	st.relative = part(weight, up.weighed)
	if !s.counts(id) || up.weighed == 0 {
		st.relative = part(weight, up.weighed+weight)
	}
	s.use(id)
}

// use computes the usage of a pool and its term, the pools above being up to date.
func (s *Scheduler) use(id int32) {
	st := &s.ranks.of[id]
	above := s.pools[id].parent
	if above < 0 || !s.inners[s.pools[above].inner].ranks {
		return
	}
	up := &s.ranks.of[above]
	if s.labels[id].kind == band {
		st.share, st.usage, st.fairshare = up.share, up.usage, up.fairshare
		return
	}
	st.share = up.share * st.relative
	top := s.compared(id)
	st.usage = part(max(0, s.pools[id].Service(s.now)), s.pools[top].Service(s.now))
	if above != top {
		st.usage += (up.usage - st.usage) * st.relative
	}
	factor := 0.0
	if st.share > 0 {
		factor = math.Exp2(-st.usage / st.share)
	}
	st.fairshare = s.ranks.exact(s.cfg.Multifactor.Fairshare * factor)
}

// compared is the pool in which the jobs of a pool are compared with others: the highest
// above it without one between that goes by anything else.
func (s *Scheduler) compared(id int32) int32 {
	for at := s.pools[id].parent; at >= 0 && s.inners[s.pools[at].inner].ranks; at = s.pools[at].parent {
		id = at
	}
	return id
}

// useAgain computes the usage of a leaf and of the pools above it anew.
func (s *Scheduler) useAgain(leaf int32) {
	if s.ranks == nil || s.pools[leaf].parent < 0 || !s.parentOf(leaf).ranks {
		return
	}
	if p := s.pools[leaf].parent; p != int32(Root) {
		s.useAgain(p)
	}
	if s.ranks.of[leaf].relative < 0 {
		s.value(leaf)
		return
	}
	s.use(leaf)
}

// valueAll computes the merits of all jobs and the usage of all pools.
func (s *Scheduler) valueAll() {
	if s.ranks == nil {
		return
	}
	s.ranks.capacity, _ = s.cluster.Capacity()
	s.ranks.merits = map[meritKey]*merit{}
	s.valueBelow(int32(Root))
}

func (s *Scheduler) valueBelow(id int32) {
	s.value(id)
	if s.pools[id].inner < 0 {
		return
	}
	kids := s.inners[s.pools[id].inner].kids
	st := &s.ranks.of[id]
	st.weighed = 0
	for _, kid := range kids {
		if s.counts(kid) {
			st.weighed += s.pools[kid].Weight
		}
	}
	for _, kid := range kids {
		s.valueBelow(kid)
	}
}

// factorTerms are what the configuration gives the jobs of a pool: its own factors, or
// those of the nearest pool above that has them.
func (s *Scheduler) factorTerms(id int32) (pool, assoc float64) {
	p, a := 0.0, 0.0
	for at, foundP, foundA := id, false, false; at >= 0; at = s.pools[at].parent {
		l := &s.labels[at]
		if l.factor != nil && !foundP {
			p, foundP = *l.factor, true
		}
		if l.assoc != nil && !foundA {
			a, foundA = *l.assoc, true
		}
	}
	return s.ranks.exact(s.cfg.Multifactor.Pool * p), s.ranks.exact(s.cfg.Multifactor.Assoc * a)
}

// resized lets merits, which count in parts of the capacity, be computed anew: at once
// if there was none, else soon, as nodes come and go in numbers.
func (s *Scheduler) resized() {
	switch {
	case s.ranks == nil:
	case s.ranks.capacityOf(0) == 0:
		s.Renew()
	default:
		if soon := s.at.Add(time.Second); s.renewal.at.IsZero() || soon.Before(s.renewal.at) {
			s.renewal.at = soon
		}
	}
}
