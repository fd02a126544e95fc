package postgres

import (
	"context"
	"sync"
	"time"
)

// How often changes of accounts are rolled up while there are any, and how often their remains
// are cleared away.
const (
	rollEvery  = 500 * time.Millisecond
	cleanEvery = 10 * time.Second
)

// roller rolls up a while after something was changed.
type roller struct {
	db       *database
	maintain func(ctx context.Context, clean bool) error // clean: clears away, too

	mu      sync.Mutex
	timer   *time.Timer
	cleaned time.Time
	ended   bool
}

// due says that there is something to roll up.
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
		r.due() // what failed is due still
	}
}

// end stops it. What is left is rolled up by whoever comes next.
func (r *roller) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.timer != nil {
		r.timer.Stop()
	}
}
