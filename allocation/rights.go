package allocation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// checkRights checks whether the user who asks may have a job in its pool, with its priority and quality of service.
func (c *Config) checkRights(j *queue.Job, n Naming) error {
	if n.By != nil {
		if err := n.By.CheckCredential(access.Submit, j.Pool); err != nil {
			return err
		}
	}
	if !n.limited() {
		return nil
	}
	if err := c.checkUse(j, n); err != nil {
		return err
	}
	same := n.In != "" && n.In == j.Pool
	if !same || n.Priority != j.Priority {
		if err := c.Access.CheckPriority(n.By, j.Pool, j.Priority, c.usual(j.Priority)); err != nil {
			return err
		}
	}
	if !same || n.QOS != j.QOS {
		return c.Access.CheckQOS(n.By, j.Pool, j.QOS)
	}
	return nil
}

// checkUse checks whether the user who asks may have a job in its pool. An operator may move other users' jobs within
// the pools that they operate.
func (c *Config) checkUse(j *queue.Job, n Naming) error {
	if n.In != "" && n.In == j.Pool {
		return nil
	}
	if n.In != "" && !n.By.Owns(j.User) {
		return c.Access.Check(n.By, access.Move, access.Object{Owner: j.User, Pool: j.Pool})
	}
	u := c.use(j, n)
	u.Instead = func() string { return instead(c, j, n, "open the pool with access.pools") }
	return c.Access.CheckUse(n.By, u)
}

// use describes the use of a job's pool.
func (c *Config) use(j *queue.Job, n Naming) access.Use {
	there, _ := n.tree(j.Pool)
	own, others := c.whose(j)
	claimed := !own && c.placedBelow(j, j.Pool) == j.Pool
	return access.Use{
		Pool: j.Pool, User: j.User, Own: own, Others: others, Claimed: claimed, Origin: originOf(j),
		There: there || c.Sched.Root.Find(j.Pool) != nil,
	}
}

// How many usable pools a refusal names, and how many pools it checks in full.
const (
	maxUsable  = 5
	maxChecked = 100
)

// instead says into which pools the user who asks may submit the job, beside what an administrator could do about the
// refused pool. If there is no such pool, instead says how an administrator makes one.
func instead(c *Config, j *queue.Job, n Naming, administrator string) string {
	some, more := c.usable(j, n)
	if len(some) == 0 {
		return fmt.Sprintf("no pool takes jobs of %s: ask an administrator to add a placement rule or a pool for %[1]s, "+
			"or to open a pool with access.pools", j.User)
	}
	text := "submit into " + strings.Join(some, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ", or ask an administrator to " + administrator
}

// usable returns some of the pools into which the asking user may submit the job: the pool of placement first, then
// leaf pools by name. The second result is the number of further such pools in the configuration.
func (c *Config) usable(j *queue.Job, n Naming) (some []string, more int) {
	may := func(path string) bool {
		other := *j
		other.Pool = path
		return c.Access.CheckUse(n.By, c.use(&other, n)) == nil
	}
	placed := *j
	if c.settlePlace(&placed) && may(placed.Pool) {
		some = append(some, placed.Pool)
	}
	var open []string
	for path, p := range c.Sched.Root.All() {
		u := access.Use{Pool: path, User: j.User, Own: p.Name == share.UserPool(j.User), There: true} // checked quickly
		if len(p.Pools) == 0 && path != placed.Pool && c.Access.CheckUse(n.By, u) == nil {
			open = append(open, path)
		}
	}
	slices.Sort(open)
	for i, path := range open {
		switch {
		case i < maxChecked && !may(path):
		case len(some) < maxUsable:
			some = append(some, path)
		default:
			more++
		}
	}
	return some, more
}

// whose reports whether the pool of a job is the own pool of the job's user, or the own pool of another user. A pool
// is a user's own if the configuration names it after the user, or sends the user's jobs there regardless of kind and
// requestor. (Users choose kind and requestor, so these prove nothing.)
func (c *Config) whose(j *queue.Job) (own, others bool) {
	plain := queue.Job{User: j.User, Group: j.Group, Requestor: j.User}
	placed := plain
	if c.settlePlace(&placed) && placed.Pool == j.Pool {
		return true, false
	}
	if c.PlacementRules != nil {
		if path, ok := c.PlacementRules.Below(originOf(&plain), j.Pool); ok && path == j.Pool {
			return true, false
		}
		_, others = c.PlacementRules.Personal(j.Pool, j.User)
	}
	if !others {
		others = c.Access.Personal(j.Pool, j.User)
	}
	_, name := share.Cut(j.Pool)
	return name == share.UserPool(j.User) && c.Sched.Root.Find(j.Pool) != nil, others
}

// usual reports whether users may have a priority if the configuration has no rule for it: the priority of jobs that
// name none, and all lower ones.
func (c *Config) usual(name string) bool {
	at, _ := c.Priority(name)
	standard, _ := c.Priority(c.DefaultPriority())
	return at >= standard
}

// CheckRights checks whether a user may change a job's priority or quality of service.
func (c *Config) CheckRights(by *access.Principal, j *queue.Job, a queue.Alteration) error {
	next := *j
	if a.Priority != "" {
		next.Priority = a.Priority
	}
	if a.QOS != nil {
		next.QOS = *a.QOS
	}
	return c.checkRights(&next, Naming{By: by, In: j.Pool, Priority: j.Priority, QOS: j.QOS})
}
