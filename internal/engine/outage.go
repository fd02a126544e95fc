package engine

import (
	"sync/atomic"
	"time"
)

// outages records when holders could not renew their leases because of this server: it was down, or answered that the
// store is unavailable. If no other server can lease their tasks again, the tasks continue after their leases have run
// out. So this server ends no lease before its holder has had the length of a lease to renew it.
//
// Instants keep their monotonic clock reading: if a wall clock were set back, no lease would end until it caught up.
type outages struct{ latest atomic.Pointer[time.Time] }

// note records that holders may notice an outage now.
func (o *outages) note() {
	now := time.Now()
	o.latest.Store(&now)
}

// within reports whether there was an outage at most d ago.
func (o *outages) within(d time.Duration) bool {
	latest := o.latest.Load()
	return latest != nil && time.Since(*latest) < d
}
