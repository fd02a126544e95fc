package allocation

import (
	"cmp"
	"strings"

	"github.com/fairlead/fairlead/queue"
)

// Settle fills in the fields that a submitted job leaves open, and returns an error if the configuration does not allow
// the job.
func (c *Config) Settle(j *queue.Job, n Naming) error {
	j.Requestor = cmp.Or(j.Requestor, j.User)
	j.Priority = cmp.Or(j.Priority, c.DefaultPriority())
	if _, ok := c.Priority(j.Priority); !ok {
		return queue.Invalidf("priority", "%q is not a priority; known: %s", j.Priority, strings.Join(c.Priorities(), ", "))
	}
	if err := c.settleLicenses(j); err != nil {
		return err
	}
	if err := c.checkQOS(j.QOS); err != nil {
		return err
	}
	if err := c.settlePool(j, n); err != nil {
		return err
	}
	return cmp.Or(c.checkRights(j, n), c.settleLimit(j))
}

// settlePool decides into which pool a job goes.
func (c *Config) settlePool(j *queue.Job, n Naming) error {
	if j.Pool != "" {
		return c.settleNamed(j, n)
	}
	if !c.settlePlace(j) {
		return c.refusePlace(j, n)
	}
	return nil
}
