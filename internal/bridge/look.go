package bridge

import (
	"context"
	"fmt"
)

// maxLook is how many entries one call asks about at most.
const maxLook = 5000

// look asks the QS about items.
func (b *Bridge) look(ctx context.Context, items []*item) ([]Status, error) {
	entries := make([]Entry, len(items))
	b.state.mu.Lock()
	for i, it := range items {
		entries[i] = it.entry()
	}
	b.state.mu.Unlock()
	call, cancel := context.WithTimeout(ctx, b.o.Patience)
	defer cancel()
	statuses, err := b.o.QS.Look(call, entries)
	if err == nil && len(statuses) != len(items) {
		err = fmt.Errorf("%d statuses for %d entries", len(statuses), len(items))
	}
	b.state.mu.Lock()
	b.answered(err)
	b.state.mu.Unlock()
	return statuses, err
}
