package replay

import (
	"math"

	"github.com/fairlead/fairlead/why"
)

// standing is a child with the numbers that are compared.
type standing struct {
	Standing
	kid    int
	key    float64
	number int32
}

func (r *replay) leastOf(at int, kids []int) standing {
	best := standing{kid: -1}
	for _, k := range kids {
		s := r.standing(at, k)
		if best.kid >= 0 && s.Rounded && s.near(best) {
			r.close = true
		}
		if best.kid < 0 || s.before(best) {
			best = s
		}
	}
	return best
}

// standing computes the compared numbers of a child from its state.
func (r *replay) standing(at, kid int) standing {
	p, c := r.pools[at], r.pools[kid].PoolEvidence
	s := standing{kid: kid, number: c.Number}
	s.Standing = p.rule.Recompute(&Choice{Evidence: r.Evidence, Above: p.PoolEvidence, Child: c, r: r, at: at, child: kid})
	s.key = p.eval(s.Values[:])
	if p.Order == why.LargestFirst {
		s.key = 0 - s.key
	}
	return s
}

// before is goesBefore for children that are not below their minimum.
func (a standing) before(b standing) bool {
	switch {
	case a.key != b.key:
		return a.key < b.key
	case a.Tie != b.Tie:
		return a.Tie < b.Tie
	case a.Fixed != b.Fixed && a.Drift == b.Drift:
		return a.Fixed < b.Fixed
	}
	return a.number < b.number
}

// near reports whether two keys differ by no more than rounding can explain.
func (a standing) near(b standing) bool {
	return a.key != b.key && math.Abs(a.key-b.key) <= 1e-9*math.Max(1, math.Abs(a.key))
}
