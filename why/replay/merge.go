package replay

import (
	"cmp"
	"math"
	"math/big"
)

// merged returns the child that goes first among the children in the list "open". If tied children have the
// order of their own children, as under fairtree, it compares their first children as if all were children
// of one pool.
func (r *replay) merged(at int, open []int) int {
	first := r.leastOf(at, open)
	if !r.pools[at].Merges || !r.pools[first.kid].Divides || first.key == 0 && r.unbeaten(first.kid) {
		return first.kid
	}
	best := first.kid
	for _, k := range open {
		if k != best && r.pools[k].Divides && r.standing(at, k).key == first.key && r.leads(k, best) {
			best = k
		}
	}
	return best
}

// unbeaten reports whether the first child of a pool that never received service is a leaf with a weight:
// only by age can another such pool go before it.
func (r *replay) unbeaten(i int) bool {
	first := r.leader(i)
	return first < 0 || !r.pools[first].Divides && r.pools[first].Weight > 0
}

// leads reports whether the first child of pool a goes before that of pool b.
func (r *replay) leads(a, b int) bool {
	x, y := r.leader(a), r.leader(b)
	switch {
	case (x < 0) != (y < 0):
		return x < 0
	case x < 0:
		return r.pools[a].Number < r.pools[b].Number
	}
	if c := r.compareParts(x, y); c != 0 {
		return c < 0
	}
	dx, dy := r.pools[x].Divides, r.pools[y].Divides
	switch {
	case dx != dy:
		return dy
	case !dx:
		return r.pools[a].Number < r.pools[b].Number
	}
	return r.leads(x, y)
}

// leader returns the first child of a pool whose children merge; -1 if it has none.
func (r *replay) leader(i int) int {
	if !r.pools[i].Merges {
		return -1
	}
	var open []int
	for _, k := range r.pools[i].kids {
		if r.open(k) {
			open = append(open, k)
		}
	}
	if len(open) == 0 {
		return -1
	}
	return r.merged(i, open)
}

// compareParts orders children of different pools by their part of the siblings' usage divided by their part
// of the siblings' weights: smallest first, and exactly.
func (r *replay) compareParts(x, y int) int {
	px, py := r.pools[x], r.pools[y]
	if px.Weight == 0 || py.Weight == 0 {
		return cmp.Compare(py.Weight, px.Weight)
	}
	if x, y := r.service(px.PoolEvidence), r.service(py.PoolEvidence); x <= 0 || y <= 0 {
		return cmp.Compare(math.Max(0, x), math.Max(0, y))
	}
	upX, upY := r.pools[px.up], r.pools[py.up]
	left := exactProduct(r.service(px.PoolEvidence), upX.Weights, py.Weight, r.service(upY.PoolEvidence))
	right := exactProduct(r.service(py.PoolEvidence), upY.Weights, px.Weight, r.service(upX.PoolEvidence))
	return left.Cmp(right)
}

// exactProduct multiplies exactly: four numbers of 53 bits have a product of 212 bits.
func exactProduct(factors ...float64) *big.Float {
	p := new(big.Float).SetPrec(256).SetInt64(1)
	for _, f := range factors {
		p.Mul(p, big.NewFloat(f))
	}
	return p
}
