package server

import (
	"sync"
	"time"
)

// polls are the polls of a session that wait at the server. A live agent always has one, or begins one at once.
type polls struct {
	mu    sync.Mutex
	open  int
	ended time.Time // the last of them, if none is open; before the first, when the agent joined
}

func (p *polls) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open++
}

func (p *polls) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	p.ended = time.Now()
}

// heard records that the agent was heard now: when it joined, its first poll follows at once.
func (p *polls) heard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = time.Now()
}

// since returns the instant at which the last poll ended, or the agent joined. It is the zero time while a poll is
// open.
func (p *polls) since() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open > 0 {
		return time.Time{}
	}
	return p.ended
}
