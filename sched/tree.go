package sched

import (
	"math"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// Pool returns the number of the pool at path, which is created if need be, under
// the weight 1. Jobs are held by leaves only: for a path that has children it is the
// number of the child for the rest, path/default.
func (s *Scheduler) Pool(path string) PoolID {
	id := int32(Root)
	if path != "" {
		for name := range strings.SplitSeq(path, "/") {
			id = s.child(id, name, named)
		}
	}
	if s.pools[id].inner >= 0 && !s.banded(id) {
		id = s.child(id, share.DefaultPool, named)
	}
	return PoolID(id)
}

// Lookup returns the number of the pool at path, if there is one.
func (s *Scheduler) Lookup(path string) (PoolID, bool) {
	id := int32(Root)
	if path == "" {
		return Root, true
	}
	for name := range strings.SplitSeq(path, "/") {
		next, ok := s.index[childKey{id, name, named}]
		if !ok {
			return 0, false
		}
		id = next
	}
	return PoolID(id), true
}

// Path is the pool's path; the root's is empty. A band has the path of its leaf.
func (s *Scheduler) Path(id PoolID) string {
	var names []string
	for i := int32(id); i != int32(Root); i = s.pools[i].parent {
		if s.labels[i].kind == named {
			names = append(names, s.labels[i].name)
		}
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, "/")
}

// banded reports whether the pool is a leaf that holds jobs of several priorities.
func (s *Scheduler) banded(id int32) bool {
	in := s.pools[id].inner
	return in >= 0 && len(s.inners[in].kids) > 0 && s.labels[s.inners[in].kids[0]].kind == band
}

// child returns the child of that name, which is created if need be.
func (s *Scheduler) child(parent int32, name string, k kind) int32 {
	if id, ok := s.index[childKey{parent, name, k}]; ok {
		return id
	}
	switch {
	case s.pools[parent].inner < 0:
		s.branch(parent, k)
		if id, ok := s.index[childKey{parent, name, k}]; ok {
			return id
		}
	case k == named && s.banded(parent):
		s.unband(parent)
		return s.child(parent, name, k)
	}
	return s.newPool(parent, name, k)
}

func (s *Scheduler) newPool(parent int32, name string, k kind) int32 {
	id := int32(len(s.pools))
	p := Pool{Weight: 1, parent: parent, inner: -1, queue: -1, limit: -1, band: -1, First: math.Inf(1)}
	for k := range s.places {
		s.places[k] = append(s.places[k], -1)
	}
	s.pools = append(s.pools, p)
	s.ownNames()
	s.labels = append(s.labels, label{name: name, kind: k, weight: 1, first: s.at})
	if s.ranks != nil {
		s.ranks.grow(len(s.pools))
	}
	if parent < 0 {
		return id
	}
	s.index[childKey{parent, name, k}] = id
	in := &s.inners[s.pools[parent].inner]
	s.pools[id].kid = int32(len(in.kids))
	in.kids = append(in.kids, id)
	s.keepDaysOf(id)
	if in.allot != nil {
		in.allotting.fresh = false
	}
	if k == band {
		priority, young := strings.CutSuffix(name, newSuffix)
		s.pools[id].band, s.pools[id].young = int8(s.priority(priority)), young
		s.labels[id].weight = s.bandWeight(int(s.pools[id].band), young)
		s.pools[id].Weight = s.labels[id].weight
		return id
	}
	s.bindNew(id)
	s.pauseNew(id)
	if !s.applying && s.labels[parent].starter.Weight > 0 {
		s.restart(id, 0)
		s.pools[id].Weight = s.weightOf(id)
	}
	return id
}

// branch lets a pool have children. The jobs that it held go to one of them: the
// band of their priority, or the child for the rest.
func (s *Scheduler) branch(id int32, k kind) {
	s.takeOut(id)
	p := &s.pools[id]
	queue := p.queue
	p.inner, p.queue = int32(len(s.inners)), -1
	p.banded = k == band
	s.inners = append(s.inners, newInner(id))
	s.inners[p.inner].mean = p.Mean
	s.inherit(id)
	if id != int32(Root) {
		s.keepDaysOf(id)
	}
	if queue < 0 {
		return
	}
	name := share.DefaultPool
	if k == band {
		name = s.bandName(int(p.band), p.young)
	}
	s.handOver(queue, s.newPool(id, name, k))
}

// unband makes room for named children in a leaf with bands: the leaf becomes an
// inner pool, and the bands those of its child for the rest.
func (s *Scheduler) unband(id int32) {
	s.takeOut(id)
	s.deferred = true
	p := &s.pools[id]
	bands := p.inner
	p.inner = int32(len(s.inners))
	s.inners = append(s.inners, newInner(id))
	s.inners[p.inner].mean = s.inners[bands].mean
	s.inherit(id)
	c := s.newPool(id, share.DefaultPool, named)
	s.copyDown(id, c)
	s.pools[c].inner, s.inners[bands].id = bands, c
	s.pools[id].banded, s.pools[c].banded = false, true
	s.inherit(c)
	s.ownNames()
	for _, kid := range s.inners[bands].kids {
		s.pools[kid].parent = c
		s.pools[c].sum(&s.pools[kid])
		if q, some := s.queued[kid]; some {
			s.queued[c] = inQueue{s.queued[c].tasks + q.tasks, s.queued[c].units + q.units}
		}
		l := s.labels[kid]
		delete(s.index, childKey{id, l.name, l.kind})
		s.index[childKey{c, l.name, l.kind}] = kid
	}
	s.rebuild()
}

// handOver gives the queue of a pool that became an inner one to its child.
func (s *Scheduler) handOver(queue, child int32) {
	c := &s.pools[child]
	c.queue, s.queues[queue].pool = queue, child
	c.band, c.young = s.pools[c.parent].band, s.pools[c.parent].young
	s.copyDown(c.parent, child)
	s.changed(child)
	s.needBelow(child)
	s.settle(child)
}

// sum counts what runs in a child, and what ran, into a pool that comes between it
// and its parent.
func (p *Pool) sum(child *Pool) {
	p.Settled += child.Settled
	p.Running += child.Running
	p.Rate += child.Rate
	p.Started += child.Started
	p.Flight += child.Flight
	p.Tasks += child.Tasks
}

// copyDown starts a child where its parent was: with its waiting tasks and its mean.
// Tasks that run already stay the parent's.
func (s *Scheduler) copyDown(parent, child int32) {
	p, c := &s.pools[parent], &s.pools[child]
	c.Waiting, c.Wanted, c.First = p.Waiting, p.Wanted, p.First
	c.Mean, c.Seen = p.Mean, p.Seen
}

// inherit sets the policy of an inner pool: its own, or that of the nearest pool
// above that names one.
func (s *Scheduler) inherit(id int32) {
	in := &s.inners[s.pools[id].inner]
	in.setPolicy(s.policyOf(id))
	s.renewalOf(in)
	s.holds = s.holds || in.held != nil
	if in.allot != nil && !s.allots {
		s.allots, s.mains.stale = true, true // what is wanted was not counted so far
	}
	if in.allot != nil && !s.pools[id].banded {
		if threshold, after := in.allot.Rebalances(); threshold > 0 && after > 0 && !slices.Contains(s.rebalancers, id) {
			s.rebalancers = append(slices.Clip(s.rebalancers), id)
		}
	}
	_, reads := in.policy.(byArrival)
	in.first, in.ranks = reads, in.ranker != nil
	if id != int32(Root) {
		above := s.parentOf(id)
		in.first, in.ranks = in.first || above.first, in.ranks || above.ranks
	}
}

// strict reports whether a leaf serves its jobs in order of arrival and nothing else.
func (s *Scheduler) strict(id int32) bool {
	switch s.policyOf(id).(type) {
	case byArrival, Ranker:
		return true
	}
	return false
}

// policyOf is the policy of a pool: its own, or that of the nearest pool above that
// names one.
func (s *Scheduler) policyOf(id int32) Policy {
	for s.labels[id].policy == "" && id != int32(Root) {
		id = s.pools[id].parent
	}
	return s.labels[id].made
}

// jobRunning is the tightest limit that the pools above set to the tasks of one job.
func (s *Scheduler) jobRunning(leaf int32) int32 {
	most := int32(0)
	for id := leaf; id >= 0; id = s.pools[id].parent {
		if l := s.limits(id); l != nil {
			most = tighter(most, l.jobRunning)
		}
	}
	return most
}

func (s *Scheduler) priority(name string) int {
	for i, p := range s.cfg.Priorities {
		if p.Name == name {
			return i
		}
	}
	panic("sched: no priority " + name)
}

// limits returns the limits of a pool, nil if it has none.
func (s *Scheduler) limits(id int32) *limit {
	if l := s.pools[id].limit; l >= 0 {
		return &s.limited[l]
	}
	return nil
}
