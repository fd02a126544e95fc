package settings

import (
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// machines is a loop that knows what its nodes have.
type machines interface {
	Capacity() (capacity, free queue.Amounts, unit string)
}

// beyond tells what a configuration promises to pools beyond what the nodes have.
func (k *Keeper) beyond(c *config.Config) []string {
	m, known := k.loop.(machines)
	if !known {
		return nil
	}
	if l, live := k.loop.(*engine.Loop); live && views.Endless(l) {
		return nil // nobody knows what they have
	}
	capacity, _, _ := m.Capacity()
	return c.Beyond(capacity)
}
