package wait

import (
	"math/rand/v2"
	"time"
)

// Backoff is how long to wait between tries: longer each time, and never quite the same, so
// that many who lost one thing do not all come back to it at once.
type Backoff struct {
	First, Max time.Duration
	last       time.Duration
}

// Next is the next pause.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, b.First), b.Max)
	return About(b.last)
}

// Reset begins again.
func (b *Backoff) Reset() { b.last = 0 }

// About is a time up to a quarter longer or shorter.
func About(d time.Duration) time.Duration {
	return d - d/4 + rand.N(d/2+1)
}
