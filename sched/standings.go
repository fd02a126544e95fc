package sched

import "github.com/fairlead/fairlead/why"

// Standings calls yield with the terms of the key of each child of a pool that has something to start,
// in the order in which they were made. One below its minimum goes before all that
// are not.
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
