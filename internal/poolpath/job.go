package poolpath

import (
	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/share"
)

// IsPath reports whether a name is already the path of a pool. If pools are created on demand, every valid path is a
// pool, and any other name is a user.
func IsPath(shares *allocation.Config, name string) bool {
	return name == "" || share.CheckPath(name) == nil &&
		(!shares.Closed || shares.Sched.Root.Find(name) != nil || shares.CanMake(name))
}

// Names resolves the pool names that jobs carry.
type Names struct {
	Shares *allocation.Config
	Find   func(name string) (path string, err error) // searches the pools of an engine; nil without one
}

// OfJob returns the path of the pool that a user's job names. User names in it need no escaping. OfJob returns an
// unknown name unchanged, because a later check has a better error for it.
func (n Names) OfJob(name, user string) string {
	if IsPath(n.Shares, name) {
		return name
	}
	if n.Find != nil {
		if path, err := n.Find(name); err == nil {
			return path
		}
	}
	if path, can := Makes(n.Shares, name); can {
		return path
	}
	for _, path := range share.Named(name) {
		_, last := share.Cut(path)
		if n.Shares.Sched.Root.Find(path) != nil || !n.Shares.Closed && last == share.UserPool(user) {
			return path
		}
	}
	return name
}
