package bridge

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// cancelAgain is how long the bridge waits before it cancels an entry once more, if it is still there.
const cancelAgain = 10 * time.Second

// cancel asks the QS to end the entries that must stop, again and again until they are gone.
func (b *Bridge) cancel(ctx context.Context) {
	now := time.Now()
	b.state.mu.Lock()
	var entries []Entry
	ask := func(it *item) {
		if it.stop != "" && it.stage == sent && now.Sub(it.cancelled) >= cancelAgain {
			it.cancelled = now
			entries = append(entries, it.entry())
		}
	}
	for _, it := range b.state.items {
		ask(it)
	}
	for _, it := range b.state.leaving {
		ask(it)
	}
	b.state.mu.Unlock()
	if len(entries) == 0 {
		return
	}
	call, cancel := context.WithTimeout(ctx, b.o.Patience)
	defer cancel()
	err := b.o.QS.Cancel(call, entries)
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	b.answered(err)
	wait.Wake(b.state.signals.follow)
}

// forget lets the QS forget the tasks whose ends the server knows, and forgets them as well.
func (b *Bridge) forget(ctx context.Context) {
	b.state.mu.Lock()
	gone := slices.Clone(b.state.over)
	entries := slices.Clone(b.state.stale)
	stale := len(entries)
	for _, it := range gone {
		if it.id != "" {
			entries = append(entries, it.entry())
		}
	}
	b.state.mu.Unlock()
	if len(gone)+stale == 0 {
		return
	}
	if len(entries) > 0 {
		call, cancel := context.WithTimeout(ctx, b.o.Patience)
		defer cancel()
		if err := b.o.QS.Forget(call, entries); err != nil {
			b.state.mu.Lock()
			b.answered(err)
			b.state.mu.Unlock()
			return
		}
	}
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	b.state.stale = b.state.stale[stale:]
	if b.state.change(nil, gone) == nil {
		b.state.over = b.state.over[len(gone):]
	}
}
