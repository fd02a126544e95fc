package server

import (
	"sync"
	"time"
)

// polls are the polls of a session that wait at the server. A live agent always has one, or begins one at once.
type polls struct {
	mu    sync.Mutex
	open  int
	ended time.Time // the last of them, if none is open
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

// since returns the instant at which the last poll ended, or the zero time while one is open or before the first.
func (p *polls) since() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open > 0 {
		return time.Time{}
	}
	return p.ended
}
