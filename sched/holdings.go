package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// holdings is the state of a pool under a [Holding] policy: the amount of each resource that the running tasks of
// its children hold. Other pools do not have it, so they pay nothing for it.
type holdings struct {
	rows   []int64 // width numbers per child: amounts by resource
	width  int
	turns  []float64 // by child: grows with each start, see turn
	clock  float64   // largest turn of a child before its last start
	totals []float64 // used to order the children; see tariff.total
	serial uint32    // version of totals
}

// dominant is the dominant resource of a child, and its amount: the child holds a larger fraction of this resource
// than of any other.
type dominant struct {
	Used, Total float64
	Resource    int32   // counted from 1; 0 if it holds nothing
	Turn        float64 // decides between equal fractions, smallest first
}

func (h *holdings) row(kid int) []int64 { return h.rows[kid*h.width : (kid+1)*h.width] }

// add adds a request to the holdings of a child, or subtracts it.
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

// turn counts a start of a child, to order children with equal (often empty) holdings: they take turns by their
// weights, as if each start were a unit of service. Otherwise, if two children share one slot or one license, they
// would tie each time it is free, and the older one would get it forever. A child does not earn turns while it is
// away.
func (h *holdings) turn(kid int, weight float64) {
	h.clock = max(h.clock, h.turns[kid])
	h.turns[kid] = h.clock + 1/weight
}

// widen makes room for more resources.
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
