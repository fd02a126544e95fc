package postgres

import (
	"context"
	"sync"
	"time"
)

// How often changes of accounts are rolled up while there are any, and how often the tables are cleaned up afterwards.
const (
	rollEvery  = 500 * time.Millisecond
	cleanEvery = 10 * time.Second
)

// roller rolls up a short time after a change.
type roller struct {
	db       *database
	maintain func(ctx context.Context, clean bool) error // clean: also cleans up

	mu      sync.Mutex
	timer   *time.Timer
	cleaned time.Time
	ended   bool
}

// due schedules a roll-up.
func (r *roller) due() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil && !r.ended {
		r.timer = time.AfterFunc(rollEvery, func() { r.db.spawn(r.run) })
	}
}

func (r *roller) run(ctx context.Context) {
	r.mu.Lock()
	r.timer = nil
	clean := time.Since(r.cleaned) >= cleanEvery
	if clean {
		r.cleaned = time.Now()
	}
	r.mu.Unlock()
	if r.maintain(ctx, clean) != nil && ctx.Err() == nil {
		r.due() // after a failure it is still due
	}
}

// end stops the roller. The next one rolls up the rest.
func (r *roller) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.timer != nil {
		r.timer.Stop()
	}
}
