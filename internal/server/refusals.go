package server

import (
	"sync"
	"time"
)

// refusedEvery is how often the log reports refusals because of overload. There may be thousands.
const refusedEvery = 10 * time.Second

// refusals counts, for the log, how often something was refused.
type refusals struct {
	mu    sync.Mutex
	said  time.Time
	count int
}

// note counts a refusal. It calls the function "say" with the count at once, and then at most once per refusedEvery.
func (r *refusals) note(say func(refused int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count++; time.Since(r.said) < refusedEvery {
		return
	}
	say(r.count)
	r.said, r.count = time.Now(), 0
}
