package sim

import (
	"container/heap"
	"math"
)

// listing is one schedule that starts jobs one by one from a list, to find a fair start.
type listing struct {
	tree    *fluid
	now     int64
	free    int64
	ends    listEnds
	given   []float64 // by node: processor-seconds
	touched []int32   // nodes that were given something
	taken   []int32   // by claim: the number of its waiting jobs that were taken
	served  []int32   // claims with taken jobs
	done    []int32   // by node: the number of its active children without jobs left
	over    []bool    // by node: no job is left
	ended   []int32   // nodes that are over
}

func (l *listing) begin(tree *fluid) {
	n := len(tree.nodes)
	l.tree, l.given, l.over, l.done = tree, make([]float64, n), make([]bool, n), make([]int32, n)
	l.taken = make([]int32, len(tree.leaf))
}

// reset begins a new list. Its cost depends on the nodes that the last list touched.
func (l *listing) reset(now, procs int64) {
	for _, id := range l.touched {
		l.given[id] = 0
	}
	for _, n := range l.served {
		l.taken[n] = 0
	}
	for _, id := range l.ended {
		l.over[id] = false
		if up := l.tree.nodes[id].parent; up >= 0 {
			l.done[up] = 0
		}
	}
	l.touched, l.served, l.ended, l.ends = l.touched[:0], l.served[:0], l.ended[:0], l.ends[:0]
	l.now, l.free = now, procs
}

// give adds work to the node of a claim and to the pools above it.
func (l *listing) give(id int32, work float64) {
	for ; id >= 0; id = l.tree.nodes[id].parent {
		if l.given[id] == 0 {
			l.touched = append(l.touched, id)
		}
		l.given[id] += work
	}
}

// next returns the next claim: at each level of the tree it chooses the node with the least work per weight,
// and the first of equal ones.
func (l *listing) next(active [][]int32) (claim int32) {
	id := int32(0)
	for l.tree.nodes[id].claim < 0 {
		best, least := int32(-1), math.Inf(1)
		for _, kid := range active[id] {
			if l.over[kid] {
				continue
			}
			x := math.Inf(1)
			if weight := l.tree.nodes[kid].weight; weight > 0 {
				x = l.given[kid] / weight
			}
			if best < 0 || x < least || x == least && kid < best {
				best, least = kid, x
			}
		}
		id = best
	}
	claim = l.tree.nodes[id].claim
	if l.taken[claim] == 0 {
		l.served = append(l.served, claim)
	}
	return claim
}

// exhaust records that a claim has no job left, and which pools above it have none left either.
func (l *listing) exhaust(id int32, active [][]int32) {
	for {
		l.over[id] = true
		l.ended = append(l.ended, id)
		up := l.tree.nodes[id].parent
		if up < 0 {
			return
		}
		if l.done[up]++; int(l.done[up]) < len(active[up]) {
			return
		}
		id = up
	}
}

// listEnd is the end of a job of the list.
type listEnd struct{ at, procs int64 }

type listEnds []listEnd

var _ heap.Interface = (*listEnds)(nil)

func (e listEnds) Len() int           { return len(e) }
func (e listEnds) Less(i, j int) bool { return e[i].at < e[j].at }
func (e listEnds) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *listEnds) Push(x any)        { *e = append(*e, x.(listEnd)) }
func (e *listEnds) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
