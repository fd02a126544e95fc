package sched

import "github.com/fairlead/fairlead/why"

// Standings calls yield with the terms of each child of a pool that has work to start, in the order in which the
// children were created. A child below its minimum goes before all others.
func (v Explainer) Standings(parent PoolID, yield func(child PoolID, t why.Terms, belowMin bool)) {
	at := v.s.tree.pools[parent].inner
	if at < 0 {
		return
	}
	in := &v.s.tree.inners[at]
	v.s.choice.retarget(in)
	for _, kid := range in.kids {
		if v.s.tree.pools[kid].seat.in {
			c := v.candidate(in, kid)
			yield(PoolID(kid), c.terms, c.belowMin)
		}
	}
}
