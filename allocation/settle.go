package allocation

import (
	"cmp"
	"strings"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
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
	if j.Pool == "" {
		if !c.settlePlace(j) {
			return refusePlace(c, j, n)
		}
		return nil
	}
	if err := share.CheckPath(j.Pool); err != nil {
		return queue.Invalidf("pool", "%v", err)
	}
	if path := c.settleNamed(j, n); path != "" {
		return refuse(c, j, path, n)
	}
	return nil
}

// refusePlace returns the error for a job that names no pool and has none of its own.
func refusePlace(c *Config, j *queue.Job, n Naming) error {
	next := "name one of these pools: " + c.pools()
	if n.limited() {
		next = instead(c, j, n, "add this one")
	}
	return queue.Invalidf("pool", "jobs of user %s go to pool %q, which does not exist%s; %s",
		j.User, j.Pool, c.staleHint(j.Pool, j.User), next)
}

// refuse returns the error for a job that may not go to path: the pool that it named, or its user's pool below.
func refuse(c *Config, j *queue.Job, path string, n Naming) error {
	known := "; known pools: " + c.pools()
	if c.PlacementRules != nil {
		if there, _ := n.tree(path); there || c.CanMake(path) {
			return queue.Invalidf("pool", "the placement rules send this job of %s to %q, and not to %q%s; "+
				"an administrator may send it there", j.User, c.place(j), path, known)
		}
	}
	next := "name one of them, or ask an administrator to add this one"
	if n.limited() {
		next = instead(c, j, n, "add this one")
	}
	known += "; " + next
	if path != j.Pool {
		return queue.Invalidf("pool", "%q has no pool for user %s%s%s", j.Pool, j.User, c.staleHint(path, j.User), known)
	}
	return queue.Invalidf("pool", "there is no pool %q%s", path, known)
}
