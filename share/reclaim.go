package share

import "time"

// Reclaim says when running tasks of other pools may be stopped for a pool that gets less than its minimum or
// entitlement. Zero fields inherit from the pool above; at the root they mean off.
type Reclaim struct {
	// MinAfter is how long the pool may stay below its minimum while some of its work could run. ShareAfter is how
	// long it may stay below the fraction Below of its entitlement. [Never] switches the rule off.
	MinAfter   time.Duration
	ShareAfter time.Duration
	Below      float64 // 0: inherited; at the root one half
	// Protect keeps running tasks of the pool and of the pools below it from being stopped for other pools.
	Protect bool
}

// Never switches off a rule that the pool above has.
const Never time.Duration = -1

// DefaultBelow is the fraction of its entitlement below which a pool counts as starving, like YARN's
// fairSharePreemptionThreshold. Smaller gaps even out as tasks end.
const DefaultBelow = 0.5

// Under fills in the unset fields of r from the effective settings of the parent pool.
func (r Reclaim) Under(above Reclaim) Reclaim {
	if r.MinAfter == 0 {
		r.MinAfter = above.MinAfter
	}
	if r.ShareAfter == 0 {
		r.ShareAfter = above.ShareAfter
	}
	if r.Below == 0 {
		r.Below = above.Below
	}
	r.Protect = r.Protect || above.Protect
	return r
}
