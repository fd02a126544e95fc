package engine

import (
	"sync/atomic"
	"time"
)

// outages notes when holders of leases could not renew them because of this server: it did not run, or told
// them that the store is away. If no other server can give their tasks away, these go on past the ends of
// their leases. So this server ends no lease until its holder has had the length of a lease to renew it.
type outages struct{ latest atomic.Int64 }

// note notes that holders may learn of an outage now.
func (o *outages) note() { o.latest.Store(time.Now().UnixNano()) }

// within reports whether there was an outage at most d ago.
func (o *outages) within(d time.Duration) bool {
	return time.Since(time.Unix(0, o.latest.Load())) < d
}
