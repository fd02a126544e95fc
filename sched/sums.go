package sched

import "math"

// sumTree draws an index with a probability proportional to its weight, in logarithmic time. Inner nodes hold the
// sum of their two children, recomputed at each change, so that no rounding errors build up and weights of 0 are
// never drawn.
type sumTree struct {
	size int       // leaves, a power of two
	sum  []float64 // sum[1] is the root, sum[size+i] is leaf i
}

func (t *sumTree) total() float64 {
	if t.size == 0 {
		return 0
	}
	return t.sum[1]
}

func (t *sumTree) set(i int, w float64) {
	if i >= t.size {
		t.grow(i + 1)
	}
	p := t.size + i
	t.sum[p] = w
	for p >>= 1; p >= 1; p >>= 1 {
		t.sum[p] = t.sum[2*p] + t.sum[2*p+1]
	}
}

func (t *sumTree) grow(n int) {
	size := max(1, t.size)
	for size < n {
		size *= 2
	}
	sum := make([]float64, 2*size)
	copy(sum[size:], t.sum[min(t.size, len(t.sum)):])
	t.size, t.sum = size, sum
	for p := size - 1; p >= 1; p-- {
		sum[p] = sum[2*p] + sum[2*p+1]
	}
}

// find returns the index at which the running sum of weights passes x, for x in [0, total).
func (t *sumTree) find(x float64) int {
	p := 1
	for p < t.size {
		p *= 2
		if left := t.sum[p]; x >= left && t.sum[p+1] > 0 {
			x -= left
			p++
		}
	}
	return p - t.size
}

// sum adds and subtracts numbers without accumulating rounding errors: it stores the rounding error of each
// operation (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974).
type sum struct{ high, low float64 }

func (a *sum) add(x float64) {
	t := a.high + x
	if math.Abs(a.high) >= math.Abs(x) {
		a.low += (a.high - t) + x
	} else {
		a.low += (x - t) + a.high
	}
	a.high = t
}

func (a sum) value() float64 { return a.high + a.low }
