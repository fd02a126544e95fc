package wait

import (
	"math/rand/v2"
	"time"
)

// Backoff gives the pauses between tries: longer each time, and randomized, so that clients that lost a
// server do not all return to it at once.
type Backoff struct {
	First, Max time.Duration
	last       time.Duration
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, b.First), b.Max)
	return About(b.last)
}

// Reset begins again.
func (b *Backoff) Reset() { b.last = 0 }

// About returns a time up to a quarter longer or shorter.
func About(d time.Duration) time.Duration {
	return d - d/4 + rand.N(d/2+1)
}
