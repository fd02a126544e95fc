package settings

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
)

// machines is a loop that knows what its nodes have.
type machines interface {
	Capacity() (capacity, free fairlead.Amounts, unit string)
}

// beyond tells what a configuration promises to pools beyond what the nodes have.
func (k *Keeper) beyond(c *config.Config) []string {
	m, known := k.loop.(machines)
	if !known {
		return nil
	}
	capacity, _, _ := m.Capacity()
	return c.Beyond(capacity)
}
