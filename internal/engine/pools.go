package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// RootName returns the path of a pool as people read it.
func RootName(path string) string {
	if path == "" {
		return "the cluster"
	}
	return share.Original(path)
}

// received returns the service that a pool has received since it was created, in slot-seconds, not decayed, including
// running tasks.
func (s *State) received(pool string, accounts queue.Accounts, now time.Time) float64 {
	sum := 0.0
	for path, a := range accounts.Pools {
		if share.Inside(path, pool) {
			sum += a.Total
		}
	}
	for _, r := range s.Runs {
		if share.Inside(r.Header.Pool, pool) {
			sum += s.Core.Read().Rate(r.run) * now.Sub(r.Started).Seconds()
		}
	}
	return sum
}

// know tells the core when the pools were created, and the service that they received, because new pools may get a
// starter boost.
func (s *State) know(accounts queue.Accounts, now time.Time) {
	if !starters(&s.Shares) {
		return
	}
	known := map[string]*sched.Known{}
	each := func(path string, f func(k *sched.Known)) {
		for i := range len(path) + 1 {
			if i < len(path) && path[i] != '/' {
				continue
			}
			k := known[path[:i]]
			if k == nil {
				k = &sched.Known{Pool: path[:i], First: now}
				known[path[:i]] = k
			}
			f(k)
		}
	}
	for path, a := range accounts.Pools {
		each(path, func(k *sched.Known) {
			k.Had += a.Total
			if a.Since.Before(k.First) {
				k.First = a.Since
			}
		})
	}
	for _, r := range s.Runs {
		each(r.Header.Pool, func(k *sched.Known) {
			k.Had += s.Core.Read().Rate(r.run) * now.Sub(r.Started).Seconds()
		})
	}
	all := make([]sched.Known, 0, len(known))
	for _, path := range slices.Sorted(maps.Keys(known)) {
		all = append(all, *known[path])
	}
	s.Core.Memory().Know(all, now)
}

// starters reports whether any pool has a starter boost for new pools.
func starters(s *allocation.Config) bool {
	if s.Sched.Root.Starter.Weight > 0 {
		return true
	}
	for _, p := range s.Sched.Root.All() {
		if p.Starter.Weight > 0 {
			return true
		}
	}
	return false
}

// leavesOf returns the paths of a pool, or of the leaf pools below it.
func leavesOf(core *sched.Scheduler, shares *allocation.Config, name string) ([]string, error) {
	core, id, err := poolpath.FindOrMake(core, shares, name)
	if err != nil {
		return nil, err
	}
	var paths []string
	var walk func(id sched.PoolID)
	walk = func(id sched.PoolID) {
		if !core.View(id).Divides() {
			paths = append(paths, core.Path(id))
			return
		}
		for _, kid := range core.Read().Children(id) {
			walk(kid)
		}
	}
	walk(id)
	return paths, nil
}
