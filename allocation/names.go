package allocation

import (
	"fmt"

	"github.com/fairlead/fairlead/share"
)

// FormerPath returns the path that earlier versions gave to the pool of a user.
func FormerPath(path, user string) string {
	above, _ := share.Cut(path)
	return share.Join(above, share.UnderscoreName(user))
}

// Stale reports whether the tree names a user's pool by its former path, and not by its own. A pool with children
// belongs to no user, so it is not stale. The pool "default" is not stale either, because it takes all users as
// before.
func (c *Config) Stale(was, own string) bool {
	if was == own || was == share.DefaultPool {
		return false
	}
	pool := c.Sched.Root.Find(was)
	return pool != nil && len(pool.Pools) == 0 && c.Sched.Root.Find(own) == nil
}

// staleHint returns a hint for the refusal of a job if the tree names its user's pool by the former path, or "".
func (c *Config) staleHint(path, user string) string {
	if was := FormerPath(path, user); c.Stale(was, path) {
		return fmt.Sprintf(" (%q was the pool of %s before an upgrade; an administrator has to call it %q now)", was, user, path)
	}
	return ""
}
