package share

import "time"

// Starter gives a pool that is created on demand, such as that of a new user, a higher weight at first. The higher
// weight ends by time or by usage, whichever comes first. The zero value gives none.
type Starter struct {
	Weight float64       // factor; 0 is no starter
	For    time.Duration // since the pool was created; 0 is no end by time
	Usage  float64       // slot-seconds received since then, undecayed; 0 is no end by usage
}
