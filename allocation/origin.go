package allocation

import (
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// PoolFor returns the pool into which the placement rules send a job that names none, or why they send it nowhere.
func (c *Config) PoolFor(o share.Origin) (string, error) {
	j := queue.Job{User: o.User, Group: o.Group, Kind: o.Kind, Requestor: o.Requestor}
	if err := c.Settle(&j, Naming{}); err != nil {
		return "", err
	}
	return j.Pool, nil
}

// NormalPriority returns the index of the priority of jobs that name none.
func (c *Config) NormalPriority() int {
	i, _ := c.Priority(c.DefaultPriority())
	return i
}
