package engine

import (
	"sync/atomic"
	"time"
)

// outages notes when holders of leases could not renew them because of this server: it did not run, or told
// them that the store is away. If no other server can give their tasks away, these go on past the ends of
// their leases. So this server ends no lease until its holder has had the length of a lease to renew it.
//
// An instant is kept as it is read, with the clock that nobody sets: a wall clock that is set back would let no
// lease end until it is there again.
type outages struct{ latest atomic.Pointer[time.Time] }

// note notes that holders may learn of an outage now.
func (o *outages) note() {
	now := time.Now()
	o.latest.Store(&now)
}

// within reports whether there was an outage at most d ago.
func (o *outages) within(d time.Duration) bool {
	latest := o.latest.Load()
	return latest != nil && time.Since(*latest) < d
}
