package server

import (
	"sync"
	"time"
)

// refusedEvery is how often the log says that something is refused because there is too much. It may be thousands of
// times.
const refusedEvery = 10 * time.Second

// refusals sums up for the log how often something was refused.
type refusals struct {
	mu    sync.Mutex
	said  time.Time
	count int
}

// note counts a refusal. At once, and then at most once in a while, say writes down how many there were.
func (r *refusals) note(say func(refused int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count++; time.Since(r.said) < refusedEvery {
		return
	}
	say(r.count)
	r.said, r.count = time.Now(), 0
}
