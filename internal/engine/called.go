package engine

import (
	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/share"
)

// isPath reports whether a name is already the path of a pool. Where pools are created on demand, every valid path is
// one, and any other name is a user.
func isPath(shares *allocation.Config, name string) bool {
	return name == "" || share.CheckPath(name) == nil &&
		(!shares.Closed || shares.Sched.Root.Find(name) != nil || shares.CanMake(name))
}

// naming finds the pool that a job names.
type naming struct {
	shares *allocation.Config
	find   func(name string) (path string, err error) // searches the pools of an engine; nil without one
}

// pool returns the path of the pool that a user's job names. User names in it need no escaping. pool returns an unknown
// name unchanged, because a later check has a better error for it.
func (n naming) pool(name, user string) string {
	if isPath(n.shares, name) {
		return name
	}
	if n.find != nil {
		if path, err := n.find(name); err == nil {
			return path
		}
	}
	if path, can := poolpath.Makes(n.shares, name); can {
		return path
	}
	for _, path := range share.Named(name) {
		_, last := share.Cut(path)
		if n.shares.Sched.Root.Find(path) != nil || !n.shares.Closed && last == share.UserPool(user) {
			return path
		}
	}
	return name
}
