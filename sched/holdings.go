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
	totals []float64 // the children are ordered by them; see tariff.total
	serial uint32    // of these
}

// dominant is the dominant resource of a child, and how much of it the child holds: it holds
// a larger part of this resource than of any other.
type dominant struct {
	Used, Total float64
	Resource    int32   // counted from 1; 0 if it holds nothing
	Turn        float64 // decides between children that hold the same part, smallest first
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

// turn counts a start of a child of the weight, to order children that hold the same part, often
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
