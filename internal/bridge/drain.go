package bridge

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
)

// drain ends a run: the bridge takes no new tasks. It stays for Drain, so that entries in the QS can end, and
// reports their ends. The other entries stay in the QS, and this node keeps their leases, because the next
// run continues with them.
func (b *Bridge) drain(ctx context.Context) {
	b.state.mu.Lock()
	b.state.draining = true
	req := api.ReportRequest{Session: b.state.session, Drain: true}
	b.state.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, b.o.Drain+10*time.Second)
	defer cancel()
	if _, err := b.o.Client.Report(ctx, b.o.Name, req); err != nil {
		b.log.Warn("could not report an end to the server", "error", err)
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

// goAway reports to the server that the bridge leaves, unless tasks are left. A node that leaves gives up its
// tasks, but the next run must continue with them.
func (b *Bridge) goAway(ctx context.Context, left int) {
	if left > 0 {
		b.log.Warn("ending; the tasks in the queueing system continue, and the bridge follows them after its next start",
			"tasks", left)
		return
	}
	b.state.mu.Lock()
	req := api.ReportRequest{Session: b.state.session, Leave: true}
	b.state.mu.Unlock()
	if _, err := b.o.Client.Report(ctx, b.o.Name, req); err != nil {
		b.log.Warn("could not report to the server that the bridge leaves", "error", err)
	}
}
