package bridge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/environ"
)

// Groups holds the groups of a bridge that decides by package frontback.
type Groups struct {
	frontback.Settings
	// Pools maps the name of a group to its pools: the jobs of these pools and of the pools below them belong
	// to the group. A group without an entry has the pool with its own name.
	Pools map[string][]string
	// Estimate is the expected run time of a job without a time limit. Default: an hour.
	Estimate time.Duration
}

// Book returns the settings of the book, in which every job has a group.
func (g *Groups) Book() frontback.Settings {
	s := g.Settings
	// A group of weight 0 takes nothing from the others. Priority groups have no weights, so if there are
	// only such groups, others gets the weight 1.
	if len(s.Groups) == 0 {
		s.Groups = []frontback.Group{{Name: others, Weight: 1}}
	} else {
		s.Groups = append(append([]frontback.Group{}, s.Groups...), frontback.Group{Name: others})
	}
	return s
}

// Group returns the group of a pool: the group with the longest path that is the pool's path or leads to it.
func (g *Groups) Group(pool string) string {
	best, length := others, -1
	try := func(name, path string) {
		if len(path) > length && (pool == path || strings.HasPrefix(pool, path+"/")) {
			best, length = name, len(path)
		}
	}
	names := append([]string{}, g.Priority...)
	for _, x := range g.Settings.Groups {
		names = append(names, x.Name)
	}
	for _, name := range names {
		paths := g.Pools[name]
		if len(paths) == 0 {
			paths = []string{name}
		}
		for _, path := range paths {
			try(name, path)
		}
	}
	return best
}

// estimate returns the expected use of a task: everything that it requests, for its whole time limit.
func (g *Groups) estimate(l *api.Lease, unit string) frontback.Use {
	seconds := l.Job.LimitSeconds
	if seconds <= 0 {
		seconds = cmp.Or(g.Estimate, time.Hour).Seconds()
	}
	return usedFor(l, unit, seconds)
}

// For fills in missing groups: the pools of a tree, or without a tree the pools that jobs name, with equal
// weights. By default the groups divide CPU time.
func (g *Groups) For(pools []string, tree []frontback.Group) *Groups {
	out := *g
	if out.Benefit == nil {
		out.Benefit = func(u frontback.Use, _ string) float64 { return u.CPUSeconds }
	}
	if len(out.Settings.Groups)+len(out.Priority) > 0 {
		return &out
	}
	if out.Settings.Groups = tree; len(tree) == 0 {
		for _, p := range pools {
			name, _, _ := strings.Cut(p, "/")
			if !slices.ContainsFunc(out.Settings.Groups, func(x frontback.Group) bool { return x.Name == name }) {
				out.Settings.Groups = append(out.Settings.Groups, frontback.Group{Name: name, Weight: 1})
			}
		}
	}
	return &out
}

// others is the group of jobs whose pool belongs to no group: the group has no share, and its jobs go to the
// back.
const others = "(others)"

// usedFor returns the use of a task that holds the resources that it requests for some seconds.
func usedFor(l *api.Lease, unit string, seconds float64) frontback.Use {
	u := frontback.Use{Seconds: seconds, Resources: map[string]float64{}}
	for name, n := range l.Job.Request {
		u.Resources[name] = float64(n)
	}
	u.Resources[unit] = max(1, u.Resources[unit])
	u.Processes = max(1, u.Resources["cpu"])
	u.CPUSeconds = seconds * u.Processes
	if _, err := fmt.Sscan(l.Job.Env[environ.Work], &u.Work); err != nil || !(u.Work >= 0) {
		u.Work = 0
	}
	return u
}
