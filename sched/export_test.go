package sched

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Rebuild computes all orders from scratch, for tests that compare them with the
// ones kept up by events.
func (s *Scheduler) Rebuild() { s.rebuild() }

// Check fails if some state that is kept up by events differs from what follows from
// the rest.
func (s *Scheduler) Check() error {
	for i := range s.inners {
		if err := s.checkInner(&s.inners[i]); err != nil {
			return err
		}
	}
	if err := s.checkWants(); err != nil {
		return err
	}
	if err := s.checkQueued(); err != nil {
		return err
	}
	for id := range s.pools {
		if err := s.checkPool(int32(id)); err != nil {
			return fmt.Errorf("pool %q: %w", s.Path(PoolID(id)), err)
		}
	}
	return nil
}

// checkWants compares what the minima count with what follows from the lines.
func (s *Scheduler) checkWants() error {
	if !s.apart {
		return nil
	}
	wants := make([][]int32, len(s.limited))
	for i := range wants {
		wants[i] = make([]int32, len(s.limited[i].wants))
	}
	for i := range s.queues {
		for k := range s.queues[i].lines() {
			l := s.queues[i].line(k)
			for id := s.queues[i].pool; id >= 0 && l.ready(); id = s.pools[id].parent {
				for r, n := range s.cluster.Request(l.shape) {
					if at := s.pools[id].limit; at >= 0 && r > 0 && r < len(wants[at]) && n > 0 {
						wants[at][r]++
					}
				}
			}
		}
	}
	for i := range wants {
		if !slices.Equal(wants[i], s.limited[i].wants) {
			return fmt.Errorf("limit %d: wanted by %v lines, want %v", i, s.limited[i].wants, wants[i])
		}
	}
	return nil
}

func (s *Scheduler) checkInner(in *inner) error {
	open := 0
	for _, kid := range in.kids {
		if s.pools[kid].in {
			open++
		}
		if s.pools[kid].in != s.open(kid) {
			return fmt.Errorf("pool %q: in %v, open %v", s.Path(PoolID(kid)), s.pools[kid].in, s.open(kid))
		}
	}
	if open != in.open || in.keyed != nil && in.keys.len() != open {
		return fmt.Errorf("open %d, counted %d, in heap %d", open, in.open, in.keys.len())
	}
	if err := s.checkRanks(in); err != nil {
		return err
	}
	for i := range in.keys.orders {
		if err := s.checkOrder(in, &in.keys.orders[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkRanks compares the orders by priority with what follows from the lines.
func (s *Scheduler) checkRanks(in *inner) error {
	if !in.ranks {
		return nil
	}
	rising, full := 0, 0
	for _, kid := range in.kids {
		w := s.ranks.of[kid]
		if s.pools[kid].in {
			if !math.IsInf(w.rising.key, 1) {
				rising++
			}
			if !math.IsInf(w.full.key, 1) {
				full++
			}
		}
		if s.pools[kid].in {
			s.rank(kid)
		}
		if again := s.ranks.of[kid]; again != w {
			return fmt.Errorf("pool %q stands as %+v, want %+v", s.Path(PoolID(kid)), w, again)
		}
	}
	if rising != len(in.rising.entries) || full != len(in.full.entries) {
		return fmt.Errorf("%d and %d in the orders, want %d and %d", len(in.rising.entries), len(in.full.entries), rising, full)
	}
	for _, o := range []*order{&in.rising, &in.full} {
		for i, r := range o.entries {
			key := s.ranks.of[r.child].rising.key
			if o.by == inFullOrder {
				key = s.ranks.of[r.child].full.key
			}
			if r.key != key || s.places[o.by][r.child] != int32(i) {
				return fmt.Errorf("pool %q: kept %v at %d, want %v at %d", s.Path(PoolID(r.child)), r.key, i, key, s.places[o.by][r.child])
			}
			if i > 0 && o.less(r, o.entries[(i-1)/arity], s) {
				return fmt.Errorf("heap of priorities out of order at %d", i)
			}
		}
	}
	return nil
}

func (s *Scheduler) checkOrder(in *inner, o *order) error {
	for i, r := range o.entries {
		if s.places[inKeyOrder][r.child] != int32(i) {
			return fmt.Errorf("place of %d is %d, want %d", r.child, s.places[inKeyOrder][r.child], i)
		}
		if i > 0 && o.less(r, o.entries[(i-1)/arity], s) {
			return fmt.Errorf("heap out of order at %d", i)
		}
		t := in.keyed.Terms(&s.pools[r.child], s.setting(in))
		if key := in.ranked(&t); r.key > key+1e-9*max(1, math.Abs(key)) {
			return fmt.Errorf("pool %q: key kept %v is no lower bound of %v", s.Path(PoolID(r.child)), r.key, key)
		}
	}
	return nil
}

func (s *Scheduler) checkPool(id int32) error {
	p := &s.pools[id]
	if p.inner < 0 {
		waiting := int64(0)
		if p.queue >= 0 {
			for i := range s.queues[p.queue].lines() {
				waiting += s.queues[p.queue].line(i).tasks
			}
		}
		if waiting != p.Waiting {
			return fmt.Errorf("waiting %d, counted %d", waiting, p.Waiting)
		}
		return nil
	}
	waiting, tasks := int64(0), int32(0)
	for _, kid := range s.inners[p.inner].kids {
		waiting += s.pools[kid].Waiting
		tasks += s.pools[kid].Tasks
	}
	if waiting != p.Waiting {
		return fmt.Errorf("waiting %d, children %d", p.Waiting, waiting)
	}
	if tasks > p.Tasks { // tasks from before it had children are its own
		return fmt.Errorf("running %d, children %d", p.Tasks, tasks)
	}
	return nil
}

// Queues is how many pools something is counted of that waits in queues of nodes.
func (s *Scheduler) Queues() int { return len(s.queued) }

// checkQueued compares what waits in queues of nodes with the tasks themselves.
func (s *Scheduler) checkQueued() error {
	want, rate := map[int32]inQueue{}, make([]float64, len(s.pools))
	for i := range s.runs {
		r := &s.runs[i]
		for id := r.pool; r.used && id >= 0; id = s.pools[id].parent {
			rate[id] += r.rate()
			if q := want[id]; r.queued {
				want[id] = inQueue{q.tasks + 1, q.units + s.cluster.Width(r.shape)}
			}
		}
	}
	if !maps.Equal(s.queued, want) {
		return fmt.Errorf("queues hold %v, counted %v", want, s.queued)
	}
	for id := range s.pools {
		if p := &s.pools[id]; math.Abs(p.Rate-rate[id]) > 1e-9 {
			return fmt.Errorf("pool %d receives %v, its tasks %v", id, p.Rate, rate[id])
		}
	}
	return nil
}

// StopTogether stops tasks as policies and reclaim do.
func (s *Scheduler) StopTogether(ids []RunID, why StopReason, d *Decision) {
	if len(ids) == 1 {
		s.stop(ids[0], why, d)
		return
	}
	s.stopTogether(ids, slices.Repeat([]StopReason{why}, len(ids)), d)
}

// Stoppable reports whether a task may be stopped now.
func (s *Scheduler) Stoppable(id RunID) bool { return s.stoppable(s.run(id)) }

// Debt is what a child is owed in one resource.
type Debt struct {
	Child                          PoolID
	Resource                       string
	Received, Ideal, Rate, Running float64
}

// Debts lists what the children of a pool are owed, by resource; what nobody asked for
// is left out.
func (s *Scheduler) Debts(parent PoolID) (all []Debt) {
	in := &s.inners[s.pools[parent].inner]
	for m, d := range in.owing.of {
		d.Advance(s.seconds())
		for kid, id := range in.kids {
			o := Debt{PoolID(id), s.cluster.Resource(s.mains.resources[m]), d.Received(kid), d.Ideal(kid), d.Rate(kid), d.Running(kid)}
			if o.Ideal != 0 || o.Rate != 0 || o.Received != 0 {
				all = append(all, o)
			}
		}
	}
	return all
}

// Claimants are the children of a pool as its allotter sees them.
func (s *Scheduler) Claimants(parent PoolID) []Claimant {
	in := &s.inners[s.pools[parent].inner]
	s.retarget(in)
	return s.classes(in)
}
