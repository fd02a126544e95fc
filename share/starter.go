package share

import "time"

// Starter lets a pool that is made on demand, such as that of a new user, begin with
// more weight; the zero value does not. It ends with what comes first, time or usage.
type Starter struct {
	Weight float64       // factor; 0 is no starter
	For    time.Duration // since the pool is there; 0 is no end by time
	Usage  float64       // slot-seconds received since then, not decayed; 0 is no end by usage
}
