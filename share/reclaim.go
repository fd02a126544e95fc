package share

import "time"

// Reclaim says when running tasks of other pools may be stopped for a pool that does not
// get what it should have. The zero value inherits from the pool above; what the root
// leaves out is off.
type Reclaim struct {
	// MinAfter is for how long the pool may be below its minimum while it has work that
	// could run, and ShareAfter for how long it may be below the fraction Below of its
	// fair part. [Never] is for ever.
	MinAfter   time.Duration
	ShareAfter time.Duration
	Below      float64 // 0: that of the pool above; at the root one half
	// Protect keeps the running tasks of the pool, and of those below it, from being
	// stopped for others.
	Protect bool
}

// Never turns a rule off that the pool above has.
const Never time.Duration = -1

// DefaultBelow is the fraction of its fair part below which a pool counts as starving:
// that of YARN's fairSharePreemptionThreshold. What is nearer evens out as tasks end.
const DefaultBelow = 0.5

// Under returns what holds in a pool below one in which above holds.
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
