package bridge

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// follows looks what became of entries, until ctx ends: when the QS tells of changes, and
// from time to time. However many entries there are it is not asked all the time.
func (b *Bridge) follows(ctx context.Context) {
	changed := b.o.QS.Changed()
	every := b.o.Poll
	if changed != nil {
		every *= 10 // it tells
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
		pause := b.o.Poll / 10 // what comes together is asked for together
		if changed == nil {
			pause = b.o.Poll
		}
		if !wait.For(ctx, max(pause, 4*took)) {
			return
		}
		timer.Reset(every)
	}
}

// followOnce asks about all entries once, and takes out the entries that are to go.
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
