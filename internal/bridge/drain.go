package bridge

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// drain ends a run: nothing new is taken, for the time of Drain what is in the QS may end,
// and what has ended is reported. The rest stays where it is, and its leases with this node:
// the next run goes on.
func (b *Bridge) drain(ctx context.Context) {
	b.mu.Lock()
	b.draining = true
	req := api.ReportRequest{Session: b.session, Drain: true}
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, b.o.Drain+10*time.Second)
	defer cancel()
	if _, err := b.o.Client.Report(ctx, b.o.Name, req); err != nil {
		b.log.Warn("the server was not told that we end", "error", err)
	}
	stay := time.Now().Add(b.o.Drain)
	told := time.Now().Add(b.o.Drain + 5*time.Second)
	for {
		b.mu.Lock()
		left, here := 0, len(b.items)
		for _, it := range b.items {
			if it.stage == ended && !it.stale || it.sending {
				left++
			}
		}
		left += len(b.refused) + len(b.release)
		b.mu.Unlock()
		now := time.Now()
		if here+left == 0 || now.After(told) || left == 0 && now.After(stay) {
			b.goAway(ctx, here)
			return
		}
		poke(b.news)
		if !sleep(ctx, 20*time.Millisecond) {
			return
		}
	}
}

// goAway tells the server that we leave, unless there is something to come back for: who
// leaves gives up what it has.
func (b *Bridge) goAway(ctx context.Context, left int) {
	if left > 0 {
		b.log.Warn("ending; what is in the queueing system goes on there, and is followed when the bridge is started again", "tasks", left)
		return
	}
	b.mu.Lock()
	req := api.ReportRequest{Session: b.session, Leave: true}
	b.mu.Unlock()
	if _, err := b.o.Client.Report(ctx, b.o.Name, req); err != nil {
		b.log.Warn("the server was not told that we leave", "error", err)
	}
}
