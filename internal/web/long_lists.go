package web

import (
	"sync"
	"time"
)

// longLists remembers the lists with more jobs than a page counts, so that an open page does not read them again at
// each update.
type longLists struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// How long a list counts as long, and how many are remembered.
const (
	longFor = time.Minute
	maxLong = 1000
)

// has reports whether a list was long lately.
func (l *longLists) has(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.until[key])
}

// add notes that a list is long.
func (l *longLists) add(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil || len(l.until) >= maxLong {
		l.until = map[string]time.Time{}
	}
	l.until[key] = now.Add(longFor)
}
