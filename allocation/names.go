package allocation

import (
	"fmt"

	"github.com/fairlead/fairlead/share"
)

// FormerPath is the path that earlier versions gave the pool of a user.
func FormerPath(path, user string) string {
	above, _ := share.Cut(path)
	return share.Join(above, share.UnderscoreName(user))
}

// Stale reports whether the tree names a pool by the path that it had before, and not by its own. One
// with pools below it is no user's; that all users may come to the pool default has not changed.
func (c *Config) Stale(was, own string) bool {
	if was == own || was == share.DefaultPool {
		return false
	}
	pool := c.Sched.Root.Find(was)
	return pool != nil && len(pool.Pools) == 0 && c.Sched.Root.Find(own) == nil
}

// staleHint is for the refusal of a job whose user had a pool in the tree by the name of before.
func (c *Config) staleHint(path, user string) string {
	if was := FormerPath(path, user); c.Stale(was, path) {
		return fmt.Sprintf(" (%q was the pool of %s before an upgrade; an administrator has to call it %q now)", was, user, path)
	}
	return ""
}
