package bridge

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// follows asks the QS about all entries, when the QS signals changes and at an interval, until ctx ends.
// Between two questions it waits for four times the duration of the last answer, so that many entries do not
// keep the QS busy all the time.
func (b *Bridge) follows(ctx context.Context) {
	changed := b.o.QS.Changed()
	every := b.o.Poll
	if changed != nil {
		every *= 10 // the QS signals changes
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-b.state.signals.follow:
		case <-timer.C:
		}
		began := time.Now()
		b.followOnce(ctx)
		took := time.Since(began)
		pause := b.o.Poll / 10 // ask once about changes that come together
		if changed == nil {
			pause = b.o.Poll
		}
		if !wait.For(ctx, max(pause, 4*took)) {
			return
		}
		timer.Reset(every)
	}
}

// followOnce asks about all entries once, and cancels the entries that must end.
func (b *Bridge) followOnce(ctx context.Context) {
	b.state.mu.Lock()
	var all []*item
	for _, it := range b.state.items {
		if it.stage == sent {
			all = append(all, it)
		}
	}
	for _, it := range b.state.leaving {
		if it.stage == sent {
			all = append(all, it)
		}
	}
	b.state.mu.Unlock()
	for len(all) > 0 && ctx.Err() == nil {
		n := min(len(all), maxLook)
		statuses, err := b.look(ctx, all[:n])
		if err != nil {
			break
		}
		if b.state.seeAll(all[:n], statuses) != nil {
			return
		}
		all = all[n:]
	}
	b.cancel(ctx)
	b.forget(ctx)
}
