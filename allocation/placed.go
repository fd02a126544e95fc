package allocation

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// place returns the pool of a job that names none.
func (c *Config) place(j *queue.Job) string {
	if c.PlacementRules == nil {
		own := share.UserPool(j.User)
		if class := c.leastLoaded(); class != "" && c.Sched.Root.Find(own) == nil {
			return class
		}
		return own
	}
	path, rule := c.PlacementRules.Place(originOf(j))
	if class := c.leastLoaded(); class != "" && rule < 0 {
		return class
	}
	return path
}

// settlePlace sends a job that names no pool to the pool that the placement rules choose, which is created on demand,
// even in a closed tree. Without rules a closed tree takes only users who have a pool in it, unless it has the pool
// default.
func (c *Config) settlePlace(j *queue.Job) error {
	j.Pool = c.place(j)
	pool := c.Sched.Root.Find(j.Pool)
	switch {
	case pool != nil || !c.Closed || c.PlacementRules != nil:
		return nil
	case c.Sched.Root.Find(share.DefaultPool) != nil:
		j.Pool = share.DefaultPool
		return nil
	}
	return queue.Invalidf("pool", "jobs of %s belong into %q, which is not in the share tree%s; name one of its pools: %s", j.User, j.Pool, c.staleHint(j.Pool, j.User), c.pools())
}

// leastLoaded returns the class with the smallest load, or the first by name among equals. Under the policy load it
// takes the jobs that belong to no other class. Under other policies leastLoaded returns "".
func (c *Config) leastLoaded() string {
	root := &c.Sched.Root
	if root.Policy != "load" || len(root.Pools) == 0 {
		return ""
	}
	return slices.MinFunc(root.Pools, func(a, b share.Pool) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
	}).Name
}

func originOf(j *queue.Job) share.Origin {
	return share.Origin{User: j.User, Group: j.Group, Kind: j.Kind, Requestor: j.Requestor}
}
