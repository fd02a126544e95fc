package bridge

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
)

// drain ends a run: the bridge takes nothing new. For the time of Drain entries in the QS may end,
// and their ends are reported. The rest stays where it is, and its leases with this node:
// the next run goes on.
func (b *Bridge) drain(ctx context.Context) {
	b.state.mu.Lock()
	b.state.draining = true
	req := api.ReportRequest{Session: b.state.session, Drain: true}
	b.state.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, b.o.Drain+10*time.Second)
	defer cancel()
	if _, err := b.o.Client.Report(ctx, b.o.Name, req); err != nil {
		b.log.Warn("the server was not told that we end", "error", err)
	}
	stay := time.Now().Add(b.o.Drain)
	reported := time.Now().Add(b.o.Drain + 5*time.Second)
	for {
		b.state.mu.Lock()
		left, here := 0, len(b.state.items)
		for _, it := range b.state.items {
			if it.stage == ended && !it.stale || it.sending {
				left++
			}
		}
		left += len(b.state.refused) + len(b.state.release)
		b.state.mu.Unlock()
		now := time.Now()
		if here+left == 0 || now.After(reported) || left == 0 && now.After(stay) {
			b.goAway(ctx, here)
			return
		}
		wait.Wake(b.state.signals.news)
		if !wait.For(ctx, 20*time.Millisecond) {
			return
		}
	}
}

// goAway tells the server that we leave, unless there is something to come back for: who
// leaves gives up what it has.
func (b *Bridge) goAway(ctx context.Context, left int) {
	if left > 0 {
		b.log.Warn("ending; what is in the queueing system goes on there, and is followed when the bridge is started again",
			"tasks", left)
		return
	}
	b.state.mu.Lock()
	req := api.ReportRequest{Session: b.state.session, Leave: true}
	b.state.mu.Unlock()
	if _, err := b.o.Client.Report(ctx, b.o.Name, req); err != nil {
		b.log.Warn("the server was not told that we leave", "error", err)
	}
}
