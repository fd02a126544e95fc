package bridge

import (
	"context"
	"slices"
	"time"
)

// part moves what has left the QS from those that are taken out to those that it may forget.
// The caller holds the lock.
func (b *Bridge) part() {
	b.leaving = slices.DeleteFunc(b.leaving, func(it *item) bool {
		if it.stage == ended {
			b.over = append(b.over, it)
		}
		return it.stage == ended
	})
}

// abandon takes an item out that is nobody's any more: first out of the QS.
func (b *Bridge) abandon(it *item, why string) {
	delete(b.items, it.task())
	it.stop = why
	switch {
	case it.stage == ended:
		b.over = append(b.over, it)
	default:
		b.log.Info("taking out of the queueing system what is not wanted there any more", "task", it.lease.Ref, "id", it.id, "why", why)
		b.leaving = append(b.leaving, it)
	}
	b.dropUnsent()
	b.part()
	poke(b.follow)
}

// cancel asks the QS to end what is to be stopped, now and then until it is gone.
func (b *Bridge) cancel(ctx context.Context) {
	now := time.Now()
	b.mu.Lock()
	var entries []Entry
	ask := func(it *item) {
		if it.stop != "" && it.stage == sent && now.Sub(it.cancelled) >= cancelAgain {
			it.cancelled = now
			entries = append(entries, it.entry())
		}
	}
	for _, it := range b.items {
		ask(it)
	}
	for _, it := range b.leaving {
		ask(it)
	}
	b.mu.Unlock()
	if len(entries) == 0 {
		return
	}
	call, cancel := context.WithTimeout(ctx, b.o.Patience)
	defer cancel()
	err := b.o.QS.Cancel(call, entries)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered(err)
	poke(b.follow)
}

// forget lets the QS forget what the server knows the end of, and forgets it as well.
func (b *Bridge) forget(ctx context.Context) {
	b.mu.Lock()
	gone := slices.Clone(b.over)
	var entries []Entry
	for _, it := range gone {
		if it.id != "" {
			entries = append(entries, it.entry())
		}
	}
	b.mu.Unlock()
	if len(gone) == 0 {
		return
	}
	if len(entries) > 0 {
		call, cancel := context.WithTimeout(ctx, b.o.Patience)
		defer cancel()
		if err := b.o.QS.Forget(call, entries); err != nil {
			b.mu.Lock()
			b.answered(err)
			b.mu.Unlock()
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.change(nil, gone) == nil {
		b.over = b.over[len(gone):]
	}
}
