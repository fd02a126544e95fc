package allocation

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/internal/access"
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
// even in a closed tree. Without rules, a closed tree takes only users who have a pool in it, or all users if it has
// the pool default. If the tree does not take the job's user, settlePlace returns false.
func (c *Config) settlePlace(j *queue.Job) bool {
	j.Pool = c.place(j)
	pool := c.Sched.Root.Find(j.Pool)
	switch {
	case pool != nil || !c.Closed || c.PlacementRules != nil:
		return true
	case c.Sched.Root.Find(share.DefaultPool) != nil:
		j.Pool = share.DefaultPool
		return true
	}
	return false
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

// OnlyNamed reports whether a user who is no administrator can submit nowhere unless a pool has the user's name. That
// is so if there is no placement rule and no pool default, jobs may not name new pools, and access.pools opens no pool.
// Lists of users and groups who may submit count as open: whoever wrote them decided who is left out.
func (c *Config) OnlyNamed() bool {
	if !c.Closed || c.PlacementRules != nil || c.leastLoaded() != "" || c.Sched.Root.Find(share.DefaultPool) != nil {
		return false
	}
	for _, p := range c.Access.Pools {
		if len(p.Submit) > 0 {
			return false
		}
	}
	return !slices.Contains(c.Access.Admin, access.Anything)
}
