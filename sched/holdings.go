package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// holdings is what a pool under a [Holding] policy keeps: how much of each resource the
// running tasks of its children have. It is kept for these pools only, so that the others
// pay nothing for it.
type holdings struct {
	rows   []int64 // by child, width numbers each: amounts by resource
	width  int
	turns  []float64 // by child: grows with each of its starts, see turn
	clock  float64   // largest turn of a child that started, before it did
	totals []float64 // by which the children stand in order; see Scheduler.total
	serial uint32    // of these
}

// Dominant is what a child holds of the resource of which it holds the largest part of
// what there is.
type Dominant struct {
	Used, Total float64
	Resource    int32   // counted from 1; 0 if it holds nothing
	Turn        float64 // decides between children that hold the same part, smallest first
}

// Dominant looks at all that the child's running tasks hold. A resource of which no node
// that takes tasks has any is left out: nobody else could have it.
func (at *Setting) Dominant(child *Pool) Dominant {
	d := Dominant{Total: 1}
	if at.held == nil || int(child.kid) >= len(at.held.turns) {
		return d
	}
	h := at.held
	d.Turn = h.turns[child.kid]
	row, most := h.row(int(child.kid)), 0.0
	for r := range min(len(row), len(h.totals)) {
		if row[r] == 0 || h.totals[r] == 0 {
			continue
		}
		if part := float64(row[r]) / h.totals[r]; part > most {
			most = part
			d.Used, d.Total, d.Resource = float64(row[r]), h.totals[r], int32(r)+1
		}
	}
	return d
}

func (h *holdings) row(kid int) []int64 { return h.rows[kid*h.width : (kid+1)*h.width] }

// add counts a request in or out of what a child holds.
func (h *holdings) add(kid int, request cluster.Vector, sign int64) {
	if len(request) > h.width {
		h.widen(len(request))
	}
	for len(h.turns) <= kid {
		h.turns = append(h.turns, 0)
		for range h.width {
			h.rows = append(h.rows, 0)
		}
	}
	row := h.row(kid)
	for r, n := range request {
		row[r] += sign * n
	}
}

// turn counts a start of a child of the weight for those that hold the same part, often
// nothing: they take turns by their weights, as if each start were a unit of service. Without,
// two that share one slot or one licence would stand level each time it is free, and the
// older one would have it for ever. A child that was away is not owed turns.
func (h *holdings) turn(kid int, weight float64) {
	h.clock = max(h.clock, h.turns[kid])
	h.turns[kid] = h.clock + 1/weight
}

// widen makes room for further resources.
func (h *holdings) widen(width int) {
	rows := make([]int64, len(h.turns)*width)
	for kid := range h.turns {
		copy(rows[kid*width:], h.row(kid))
	}
	h.rows, h.width = rows, width
}

func (h *holdings) fork() *holdings {
	if h == nil {
		return nil
	}
	f := *h
	f.rows, f.turns = slices.Clone(h.rows), slices.Clone(h.turns)
	return &f
}

// total notes what there is of each resource, for the policies that compare parts of it.
// Their orders follow at the next choice: nodes come and go in numbers.
func (s *Scheduler) total(capacity cluster.Vector) {
	totals := make([]float64, len(capacity))
	for r, n := range capacity {
		totals[r] = float64(n)
	}
	if !slices.Equal(totals, s.totals) {
		s.totals = totals
		s.totalled++
	}
}

// reorder brings the children into the order that follows from what there is now.
func (s *Scheduler) reorder(in *inner) {
	if in.held == nil || in.held.serial == s.totalled {
		return
	}
	in.held.totals, in.held.serial = s.totals, s.totalled
	in.keys.clear()
	for _, kid := range in.kids {
		if s.pools[kid].in {
			s.putKey(in, kid)
		}
	}
}

// holdTask counts a running task in or out of what pools hold, from a leaf up.
func (s *Scheduler) holdTask(id int32, shape cluster.Shape, sign int64) {
	if !s.holds {
		return
	}
	request := s.cluster.Request(shape)
	for ; id > 0; id = s.pools[id].parent {
		if h := s.parentOf(id).held; h != nil {
			kid := int(s.pools[id].kid)
			h.add(kid, request, sign)
			if sign > 0 {
				h.turn(kid, s.pools[id].Weight)
			}
		}
	}
}

// countHoldings computes from scratch what pools hold; their turns stay.
func (s *Scheduler) countHoldings() {
	s.holds = false
	for i := range s.inners {
		if h := s.inners[i].held; h != nil {
			s.holds = true
			clear(h.rows)
			h.totals, h.serial = s.totals, s.totalled
		}
	}
	if !s.holds {
		return
	}
	for i := range s.runs {
		r := &s.runs[i]
		if !r.used {
			continue
		}
		for id := r.pool; id > 0; id = s.pools[id].parent {
			if h := s.parentOf(id).held; h != nil {
				h.add(int(s.pools[id].kid), s.cluster.Request(r.shape), +1)
			}
		}
	}
}
