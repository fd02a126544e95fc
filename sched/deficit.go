package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// Under an [Owing] policy each resource of which some task takes more than of any other,
// as a part of what the cluster has (its main resource), has deficits of its own: map and
// reduce slots do not stand in for one another (seed 1). A child is compared in the main
// resource of what it could start; in the first of them, if there are several.

// owing is what a pool under an owing policy keeps: for each main resource what its
// children are owed, and what they use and want of it.
type owing struct {
	of    []*usage.Deficits
	needs [][]claimed
	runs  []float64 // of all children
}

type claimed struct{ running, wanted float64 }

// mains are the resources that are the main one of some shape.
type mains struct {
	resources []int     // the first is the unit
	capacity  []float64 // of each
	of        []int8    // by shape: index into resources
	stale     bool      // the deficits are to be counted from scratch
}

func (s *Scheduler) seconds() float64 { return s.instant.Seconds }

// mainOf is the index of a shape's main resource.
func (s *Scheduler) mainOf(shape cluster.Shape) int8 {
	for len(s.mains.of) <= int(shape) {
		s.mains.of = append(s.mains.of, s.findMain(cluster.Shape(len(s.mains.of))))
	}
	return s.mains.of[shape]
}

func (s *Scheduler) findMain(shape cluster.Shape) int8 {
	capacity, _ := s.cluster.Capacity()
	main, part := 0, 0.0
	for r, n := range s.cluster.Request(shape) {
		if r < len(capacity) && capacity[r] > 0 && float64(n)/float64(capacity[r]) > part {
			main, part = r, float64(n)/float64(capacity[r])
		}
	}
	i := slices.Index(s.mains.resources, main)
	if i < 0 {
		i = len(s.mains.resources)
		s.mains.resources = append(s.mains.resources, main)
		s.mains.stale = true
	}
	return int8(i)
}

// meetMains counts the deficits from scratch when an event brought the first task with
// a main resource that no other had, or the first pool whose children are owed something:
// from now on it is owed and divided, too.
func (s *Scheduler) meetMains() {
	if s.mains.stale && !s.deferred {
		s.rebuild()
	}
}

// needBelow counts what a leaf wants that was given the waiting tasks of the pool above,
// among its siblings; above them nothing changes.
func (s *Scheduler) needBelow(leaf int32) {
	p, in := &s.pools[leaf], s.parentOf(leaf)
	if in.owing == nil || s.deferred {
		return
	}
	if !s.owes {
		s.mains.stale = true
		return
	}
	above := &s.pools[p.parent]
	p.readyBy, p.main = slices.Clone(above.readyBy), above.main
	q := &s.queues[p.queue]
	for i := range q.lines() {
		if l := q.line(i); !l.held() {
			s.needIn(in, leaf, s.cluster.Request(l.shape), 0, float64(l.tasks))
		}
	}
}

// measureMains finds the main resources anew after the cluster changed. Where one is
// another now, what is ready is to be counted anew.
func (s *Scheduler) measureMains() {
	were := s.mains.of
	s.mains.of = nil
	capacity, _ := s.cluster.Capacity()
	if len(s.mains.resources) == 0 {
		s.mains.resources = []int{0}
	}
	for shape := range s.cluster.Shapes() {
		s.mainOf(cluster.Shape(shape))
	}
	if len(were) > len(s.mains.of) || !slices.Equal(were, s.mains.of[:len(were)]) {
		s.mains.stale = true
	}
	s.mains.capacity = make([]float64, len(s.mains.resources))
	for i, r := range s.mains.resources {
		if r < len(capacity) {
			s.mains.capacity[i] = float64(capacity[r])
		}
	}
	for i := range s.inners {
		s.rateOwing(&s.inners[i])
	}
}

// rateOwing sets what a pool divides, of each main resource.
func (s *Scheduler) rateOwing(in *inner) {
	if in.owing == nil {
		return
	}
	for m, d := range in.owing.of {
		d.Advance(s.seconds())
		d.SetRate(s.divided(in, m))
	}
	s.redrift(in)
}

// divided is what a pool divides of a main resource: the root all there is, others what
// they have.
func (s *Scheduler) divided(in *inner, m int) float64 {
	if in.id == int32(Root) && m < len(s.mains.capacity) {
		return s.mains.capacity[m]
	}
	return in.owing.runs[m]
}

// need counts running and wanted tasks of a shape in, for a pool and those above it.
func (s *Scheduler) need(id int32, shape cluster.Shape, running, wanted float64) {
	if !s.owes || s.deferred {
		return
	}
	s.mainOf(shape)
	request := s.cluster.Request(shape)
	for ; id > 0; id = s.pools[id].parent {
		if in := s.parentOf(id); in.owing != nil {
			s.needIn(in, id, request, running, wanted)
		}
	}
}

func (s *Scheduler) needIn(in *inner, id int32, request cluster.Vector, running, wanted float64) {
	in.owing.grow(len(s.mains.resources), s.seconds())
	kid := int(s.pools[id].kid)
	for m, r := range s.mains.resources {
		if r >= len(request) || request[r] == 0 {
			continue
		}
		amount := float64(request[r])
		d := in.owing.of[m]
		d.Advance(s.seconds())
		in.owing.claim(m, kid, running*amount, wanted*amount)
		if running != 0 {
			d.Run(kid, running*amount)
		}
		s.setOwing(in, id, m)
	}
	s.redrift(in)
}

func (o *owing) need(m, kid int) *claimed {
	for len(o.needs[m]) <= kid {
		o.needs[m] = append(o.needs[m], claimed{})
	}
	return &o.needs[m][kid]
}

// claim counts what a child uses and wants of a main resource.
func (o *owing) claim(m, kid int, running, wanted float64) {
	n := o.need(m, kid)
	n.running += running
	n.wanted += wanted
	o.runs[m] += running
}

// setOwing tells the deficits what a child is guaranteed and can use.
func (s *Scheduler) setOwing(in *inner, id int32, m int) {
	p, r := &s.pools[id], s.mains.resources[m]
	n := *in.owing.need(m, int(p.kid))
	least, most := 0.0, n.running+n.wanted
	if l := s.limits(id); l != nil {
		if r < len(l.min) {
			least = float64(l.min[r])
		}
		if r < len(l.max) && l.max[r] >= 0 {
			most = min(most, float64(l.max[r]))
		}
	}
	d := in.owing.of[m]
	d.Set(int(p.kid), p.Weight, least, most)
	d.SetRate(s.divided(in, m))
}

// redrift puts the children into their places whose deficits grow differently now, the
// one that the event is about included: further work for a pool that waits already is not
// settled.
func (s *Scheduler) redrift(in *inner) {
	for _, d := range in.owing.of {
		for _, kid := range d.Changed() {
			if id := in.kids[kid]; s.pools[id].in && s.places[inKeyOrder][id] >= 0 && !s.deferred {
				s.setKey(in, id)
			}
		}
	}
}

func (o *owing) grow(mains int, at float64) {
	for len(o.of) < mains {
		o.of = append(o.of, usage.NewDeficits(at))
		o.needs = append(o.needs, nil)
		o.runs = append(o.runs, 0)
	}
}

func (o *owing) fork() *owing {
	if o == nil {
		return nil
	}
	f := &owing{runs: slices.Clone(o.runs)}
	for m, d := range o.of {
		f.of = append(f.of, d.Clone())
		f.needs = append(f.needs, slices.Clone(o.needs[m]))
	}
	return f
}

// countOwing computes from scratch what children need; what they are owed stays.
func (s *Scheduler) countOwing() {
	s.owes, s.mains.stale = false, false
	for i := range s.inners {
		in := &s.inners[i]
		if in.owing == nil {
			continue
		}
		s.owes = true
		in.owing.grow(max(1, len(s.mains.resources)), s.seconds())
		for m := range in.owing.of {
			clear(in.owing.needs[m])
			in.owing.runs[m] = 0
		}
	}
	if !s.owes {
		return
	}
	s.measureMains()
	s.mains.stale = false
	for i := range s.runs {
		if r := &s.runs[i]; r.used {
			s.countNeed(r.pool, r.shape, 1, 0)
		}
	}
	for i := range s.queues {
		q := &s.queues[i]
		for k := range q.lines() {
			if l := q.line(k); !l.held() {
				s.countNeed(q.pool, l.shape, 0, float64(l.tasks))
			}
		}
	}
	for i := range s.inners {
		s.recountOwing(&s.inners[i])
	}
	s.countReady()
}

func (s *Scheduler) countNeed(id int32, shape cluster.Shape, running, wanted float64) {
	request := s.cluster.Request(shape)
	for ; id > 0; id = s.pools[id].parent {
		in := s.parentOf(id)
		if in.owing == nil {
			continue
		}
		in.owing.grow(len(s.mains.resources), s.seconds())
		for m, r := range s.mains.resources {
			if r < len(request) {
				in.owing.claim(m, int(s.pools[id].kid), running*float64(request[r]), wanted*float64(request[r]))
			}
		}
	}
}

func (s *Scheduler) recountOwing(in *inner) {
	if in.owing == nil {
		return
	}
	for m, d := range in.owing.of {
		d.Advance(s.seconds())
		for kid, id := range in.kids {
			// What is as it was is left alone: counting must not change an order by rounding.
			if change := in.owing.need(m, kid).running - d.Running(kid); change != 0 {
				d.Run(kid, change)
			}
			s.setOwing(in, id, m)
		}
		d.Changed()
	}
}

// countReady counts, for pools that are compared in more than one resource, the lines
// that are ready by their main one.
func (s *Scheduler) countReady() {
	for i := range s.pools {
		s.pools[i].readyBy, s.pools[i].main = nil, 0
	}
	if len(s.mains.resources) < 2 {
		return
	}
	for i := range s.queues {
		q := &s.queues[i]
		for k := range q.lines() {
			if l := q.line(k); l.ready() {
				s.readied(q.pool, l.shape, 1)
			}
		}
	}
}

// readied notes that a line became ready, or is no more.
func (s *Scheduler) readied(id int32, shape cluster.Shape, n int32) {
	if !s.owes || len(s.mains.resources) < 2 || s.deferred && n < 0 {
		return
	}
	m := s.mainOf(shape)
	for ; id >= 0; id = s.pools[id].parent {
		p := &s.pools[id]
		for len(p.readyBy) <= int(m) {
			p.readyBy = append(p.readyBy, 0)
		}
		p.readyBy[m] += n
		if main := slices.IndexFunc(p.readyBy, func(n int32) bool { return n > 0 }); main >= 0 {
			p.main = int8(main)
		}
	}
}

// Owed is what a child is owed, in the resource in which it is compared, and how much of
// this there is.
func (at *Setting) Owed(child *Pool) (received, ideal, capacity float64) {
	return at.owedIn(child, int(child.main))
}

func (at *Setting) owedIn(child *Pool, m int) (received, ideal, capacity float64) {
	if m >= len(at.debts) {
		return 0, 0, 1
	}
	capacity = 1
	if m < len(at.capacities) {
		capacity = max(1, at.capacities[m])
	}
	d := at.debts[m]
	return d.Received(int(child.kid)), d.Ideal(int(child.kid)), capacity
}

// Still is what does not fall of received less ideal, and the drift of the rest.
func (at *Setting) Still(child *Pool) (still float64, drift [2]float64) {
	m := int(child.main)
	if m >= len(at.debts) {
		return 0, drift
	}
	d := at.debts[m]
	return d.Still(int(child.kid)), [2]float64{d.Drift(int(child.kid)), float64(m)}
}

// SetDeficit says what a leaf is owed as of now, in slot-seconds of the unit, where its
// policy counts that. The pools above are owed as much more.
func (s *Scheduler) SetDeficit(leaf PoolID, owed float64) {
	for id := int32(leaf); id > 0; id = s.pools[id].parent {
		in := s.parentOf(id)
		if in.owing == nil {
			continue
		}
		in.owing.grow(1, s.seconds())
		d := in.owing.of[0]
		d.Advance(s.seconds())
		d.Owe(int(s.pools[id].kid), owed+d.Ideal(int(s.pools[id].kid))-d.Received(int(s.pools[id].kid)))
	}
	s.settle(int32(leaf))
}
