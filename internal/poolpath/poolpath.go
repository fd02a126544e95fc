// Package poolpath finds the pool that a name means, including pools that do not exist yet.
package poolpath

import (
	"errors"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// There reports whether a pool exists, from the configuration or created on demand, and whether it has child
// pools.
func There(core *sched.Scheduler, path string) (there, divides bool) {
	id, there := core.Lookup(path)
	return there, there && core.View(id).Divides()
}

// Naming returns the authority for the pool names of jobs: the principal, nil for the program itself, and the
// existing pools. See [allocation.Naming].
func Naming(core *sched.Scheduler, by *access.Principal) allocation.Naming {
	return allocation.Naming{By: by, Tree: func(path string) (there, divides bool) { return There(core, path) }}
}

// FindOrMake finds a pool as [Find] does. If the pool does not exist and a placement rule creates it,
// FindOrMake creates it in a fork, and returns the fork as the scheduler. In all other cases it returns the
// given scheduler.
func FindOrMake(core *sched.Scheduler, shares *allocation.Config, name string) (*sched.Scheduler, sched.PoolID, error) {
	id, err := Find(core, name)
	if !errors.Is(err, queue.ErrNotFound) {
		return core, id, err
	}
	path, can := Makes(shares, name)
	if !can {
		return core, id, err
	}
	core = core.Fork()
	core.Pool(path)
	id, _ = core.Lookup(path)
	return core, id, nil
}

// Makes returns the path of the pool that a name means if a placement rule creates that pool. A slash in the
// name of a user has to be in quotes: physics/ann/deeper may be a mistake, and does not mean a user
// ann/deeper.
func Makes(shares *allocation.Config, name string) (path string, can bool) {
	path = share.Reading(name)
	return path, path != "" && shares.CanMake(path)
}

// Find finds a pool by its path, or the pool of a user by its last segment. The path may contain user names
// without escapes; see [share.Named].
func Find(core *sched.Scheduler, name string) (sched.PoolID, error) {
	if id, ok := core.Lookup(name); ok {
		return id, nil
	}
	all := share.Named(name)
	var found []sched.PoolID
	for _, path := range all {
		if id, ok := core.Lookup(path); ok {
			found = append(found, id)
		}
	}
	for i := 0; len(found) == 0 && i < len(all); i++ {
		found = below(core, all[i])
	}
	switch len(found) {
	case 0:
		return 0, queue.Missingf("there is no pool or user %.256q; see fairlead shares", name)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, p := range found {
		names = append(names, core.Path(p))
	}
	slices.Sort(names)
	return 0, queue.Invalidf("pool", "%q is in several pools; name one of %s", name, strings.Join(names, ", "))
}

// below returns the pools below others whose path ends with the name.
func below(core *sched.Scheduler, name string) (found []sched.PoolID) {
	for id := range core.Read().Pools() {
		p := sched.PoolID(id)
		if path := core.Path(p); !core.Read().PriorityClass(p) && strings.HasSuffix(path, "/"+name) {
			found = append(found, p)
		}
	}
	return found
}
