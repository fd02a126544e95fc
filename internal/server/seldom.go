package server

import (
	"sync"
	"time"
)

// seldom passes equal texts at most once a minute.
type seldom struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// now reports whether a text did not pass within the last minute.
func (s *seldom) now(text string) bool {
	const most = 1000 // texts; with more, all are forgotten, and pass again
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.last[text]) < time.Minute {
		return false
	}
	if s.last == nil || len(s.last) >= most {
		clear(s.last)
		s.last = map[string]time.Time{}
	}
	s.last[text] = now
	return true
}
