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

// Groups are the groups of a bridge that decides by package frontback.
type Groups struct {
	frontback.Settings
	// Pools are the pools whose jobs, and those of the pools below them, belong to a group, by
	// the group's name. A group without pools has the pools that are called as it.
	Pools map[string][]string
	// Estimate is how long a job is expected to run that has no time limit. Default: an hour.
	Estimate time.Duration
}

// Book are the settings of the book, in which there is a place for everybody.
func (g *Groups) Book() frontback.Settings {
	s := g.Settings
	// One of weight 0 is nobody's loss. Priority groups alone divide nothing.
	if len(s.Groups) == 0 {
		s.Groups = []frontback.Group{{Name: others, Weight: 1}}
	} else {
		s.Groups = append(append([]frontback.Group{}, s.Groups...), frontback.Group{Name: others})
	}
	return s
}

// Group is the group of a pool: that of the longest path that leads to it.
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

// estimate is what a task is expected to take: its whole time limit.
func (g *Groups) estimate(l *api.Lease, unit string) frontback.Use {
	seconds := l.Job.LimitSeconds
	if seconds <= 0 {
		seconds = cmp.Or(g.Estimate, time.Hour).Seconds()
	}
	return usedFor(l, unit, seconds)
}

// For fills in the groups: without any they are the pools of a tree, or,
// without a tree, the pools that jobs name, of the same weight. They divide the time of
// processors.
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

// others is the group of jobs whose pool belongs to no group: it has no fraction, and goes
// to the back.
const others = "(others)"

// usedFor is what a task has that holds what it asks for, for so long.
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
