package allocation

import (
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// Naming says on whose authority a job names a pool, and knows the pools that exist beside the configuration.
type Naming struct {
	// By is the user who asks, if known: users may name the pools to which they have a right. Administrators, and the
	// program itself (nil), may name every pool of the tree, and every pool that a rule makes for any job.
	By *access.Principal
	// Tree reports whether a pool exists, and whether it has pools below it; nil if that is not known.
	Tree func(path string) (there, divides bool)
	// In is the present pool of the job: the job may stay there, whoever made the pool, and keeps its Priority and its
	// QOS there.
	In, Priority, QOS string
}

// limited reports whether the user who asks is not an administrator.
func (n *Naming) limited() bool { return n.By != nil && !n.By.Admin }

func (n *Naming) tree(path string) (there, divides bool) {
	if n.Tree == nil {
		return false, false
	}
	return n.Tree(path)
}

// settleNamed decides into which pool a job goes if it names one, and whether that pool may be created. No other code
// decides this. It returns the pool to which the job may not go, or "".
func (c *Config) settleNamed(j *queue.Job, n Naming) (refused string) {
	if j.Pool == n.In {
		return ""
	}
	own := c.placedBelow(j, j.Pool)
	if own == "" {
		own = c.Access.CreatesBelow(originOf(j), j.Pool)
	}
	switch configured := c.Sched.Root.Find(j.Pool); {
	case own == j.Pool:
		return ""
	case c.divides(j.Pool, n):
		return c.settleBelow(j, own, n)
	case configured != nil || c.mayMake(j, j.Pool, n):
		return ""
	}
	return j.Pool
}

// placedBelow returns the pool at or below path to which the configuration sends a job; "" is none.
func (c *Config) placedBelow(j *queue.Job, path string) string {
	if c.PlacementRules == nil && c.Closed {
		return ""
	}
	if own := c.place(j); share.Inside(own, path) {
		return own
	}
	if c.PlacementRules == nil {
		return ""
	}
	own, _ := c.PlacementRules.Below(originOf(j), path)
	return own
}

// divides reports whether a pool has pools below it. In a closed tree a configured leaf pool below which no rule leads
// remains a leaf, even if pools were created on demand below it when the tree was open.
func (c *Config) divides(path string, n Naming) bool {
	if pool := c.Sched.Root.Find(path); pool != nil && len(pool.Pools) > 0 {
		return true
	}
	if c.PlacementRules != nil {
		if _, above := c.PlacementRules.Reach(path); above {
			return true
		}
	}
	if c.Access.Divides(path) {
		return true
	}
	if c.Closed {
		return false
	}
	_, divides := n.tree(path)
	return divides
}

// settleBelow sends a job that names a pool with children to its user's child there, or to the pool below that a rule
// chooses. It returns the pool to which the job may not go, or "".
func (c *Config) settleBelow(j *queue.Job, own string, n Naming) (refused string) {
	path := share.Join(j.Pool, share.UserPool(j.User))
	switch {
	case c.Sched.Root.Find(path) != nil:
	case own != "":
		path = own
	case !c.mayMake(j, path, n):
		return path
	}
	j.Pool = path
	return ""
}

// mayMake reports whether the job may name a pool that the configuration does not name and that no rule makes for this
// job.
func (c *Config) mayMake(j *queue.Job, path string, n Naming) bool {
	if !c.Closed || c.Access.Creates(originOf(j), path) {
		return true
	}
	there, _ := n.tree(path)
	return there || !n.limited() && c.CanMake(path)
}

// CanMake reports whether a placement rule makes a pool for some job.
func (c *Config) CanMake(path string) bool {
	if c.PlacementRules == nil {
		return false
	}
	makes, _ := c.PlacementRules.Reach(path)
	return makes || path == share.DefaultPool
}
