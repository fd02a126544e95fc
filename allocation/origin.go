package allocation

import (
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// PoolFor is the pool into which a job goes that names none, by the placement rules, or
// why there is none for it.
func (c *Config) PoolFor(o share.Origin) (string, error) {
	j := queue.Job{User: o.User, Group: o.Group, Kind: o.Kind, Requestor: o.Requestor}
	if err := c.Settle(&j, Naming{}); err != nil {
		return "", err
	}
	return j.Pool, nil
}

// NormalPriority is the index of the priority of a job that names none.
func (c *Config) NormalPriority() int {
	i, _ := c.Priority(c.DefaultPriority())
	return i
}
