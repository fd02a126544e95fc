package settings

import (
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// machines is a loop that knows the capacity of its nodes.
type machines interface {
	Capacity() (capacity, free queue.Amounts, unit string)
}

// beyond returns the promises of a configuration to pools that exceed the capacity of the nodes.
func (k *Keeper) beyond(c *config.Config) []string {
	m, known := k.loop.(machines)
	if !known {
		return nil
	}
	if l, live := k.loop.(*engine.Loop); live && views.Endless(l) {
		return nil // the capacity is unknown
	}
	capacity, _, _ := m.Capacity()
	return c.Beyond(capacity)
}
