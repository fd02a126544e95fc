package cluster

import "slices"

// freeTree finds the next node with at least so much free in logarithmic time: a
// complete binary tree in an array whose inner nodes hold the largest value below.
type freeTree struct {
	size int     // leaves, a power of two
	max  []int64 // max[1] is the root, max[size+i] is leaf i
}

const unusable = -1

func (t *freeTree) set(i int, v int64) {
	if i >= t.size {
		t.grow(i + 1)
	}
	p := t.size + i
	t.max[p] = v
	for p >>= 1; p >= 1; p >>= 1 {
		m := max(t.max[2*p], t.max[2*p+1])
		if t.max[p] == m {
			return
		}
		t.max[p] = m
	}
}

// at is the value of a leaf.
func (t *freeTree) at(i int) int64 {
	if i >= t.size {
		return unusable
	}
	return t.max[t.size+i]
}

func (t *freeTree) grow(n int) {
	size := max(1, t.size)
	for size < n {
		size *= 2
	}
	old, was := t.max, t.size
	t.size, t.max = size, slices.Repeat([]int64{unusable}, 2*size)
	for i := range was {
		t.max[size+i] = old[was+i]
	}
	for p := size - 1; p >= 1; p-- {
		t.max[p] = max(t.max[2*p], t.max[2*p+1])
	}
}

// next returns the first leaf from i on whose value is at least need, or -1.
func (t *freeTree) next(i int, need int64) int {
	if i >= t.size {
		return -1
	}
	p := t.size + i
	for t.max[p] < need {
		for p&1 == 1 { // a right child: go up to where a right sibling is left
			p >>= 1
		}
		if p == 0 {
			return -1
		}
		p++
	}
	for p < t.size {
		p *= 2
		if t.max[p] < need {
			p++
		}
	}
	return p - t.size
}

func (t *freeTree) clone() freeTree { return freeTree{t.size, slices.Clone(t.max)} }
