package bridge

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
)

// Options describe a bridge.
type Options struct {
	Client  *api.Client // of the server
	QS      QS
	System  string // what the QS is called in answers
	Name    string // of the node as which the bridge joins the server
	Dir     string // for the ledger and the output of jobs
	Labels  map[string]string
	Version string // of the program
	Host    string // name of the machine
	Logger  *slog.Logger
	// Away is told when the QS does not answer. The adapter may share it. Default: one that
	// writes to the Logger.
	Away *Outage

	// Groups decide where jobs go in the QS, which gets all of them at once. Nil: jobs are
	// kept back until there is a free slot, all at one Level, in the order of the server.
	Groups *Groups
	Level  int64
	// Slots is how much the QS may have at a time, in the unit of the server. Default: with
	// Groups as good as everything, without them 1.
	Slots int64
	// Resources are further amounts that the QS may have at a time. Of processors, memory and
	// GPUs there are enough unless they are named.
	Resources map[string]int64

	// Poll is how often the QS is asked what became of its entries, at most. Default: 1s.
	Poll time.Duration
	// Lease is for how long the server leaves the tasks with the bridge when it hears nothing
	// of it. Default: a day.
	Lease time.Duration
	// Batch is how many tasks are submitted by one call. Default: 200.
	Batch int
	// Patience is how long one call of the QS may take. Default: 1m.
	Patience time.Duration
	// Drain is for how long the bridge stays when it is told to end, so that what is in the QS
	// ends first. Default: it does not wait.
	Drain time.Duration
	// TakeOver joins under a name whose tasks were written down in another ledger, which is
	// lost: what it had is submitted once more.
	TakeOver bool
	// Joined is called when the server let the bridge in, each time.
	Joined func()
}

// unlimited is how much there is of what nobody counts: the QS knows its own limits.
const (
	unlimited      = 1_000_000
	unlimitedBytes = 1 << 50
)

// fill fills in the defaults.
func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Away == nil {
		o.Away = NewOutage(o.Logger, "the queueing system does not answer", "the queueing system answers again")
	}
	if o.Slots == 0 {
		o.Slots = 1
		if o.Groups != nil {
			o.Slots = unlimited
		}
	}
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Lease = cmp.Or(o.Lease, 24*time.Hour)
	o.Batch = cmp.Or(o.Batch, 200)
	o.Patience = cmp.Or(o.Patience, time.Minute)
}

// capacity is what the bridge offers.
func (o *Options) capacity(unit string) map[string]int64 {
	all := map[string]int64{"cpu": unlimited, "mem": unlimitedBytes, "gpu": unlimited}
	maps.Copy(all, o.Resources)
	all[unit] = o.Slots
	return all
}

// Groups are the groups of a bridge that decides by package frontback.
type Groups struct {
	frontback.Settings
	// Pools are the pools whose jobs, and those of the pools below them, belong to a group, by
	// the group's name. A group without pools has those that are called as it.
	Pools map[string][]string
	// Estimate is how long a job is expected to run that has no time limit. Default: an hour.
	Estimate time.Duration
}

// Others is the group of jobs whose pool belongs to no group: it has no fraction, and goes
// to the back.
const Others = "(others)"

// WorkVariable, in the environment of a job, says how much work the job is, in the units of
// an administrator's choice.
const WorkVariable = "FAIRLEAD_WORK"

// Book are the settings of the book, in which there is a place for everybody.
func (g *Groups) Book() frontback.Settings {
	s := g.Settings
	// One of weight 0 is nobody's loss. Priority groups alone divide nothing.
	if len(s.Groups) == 0 {
		s.Groups = []frontback.Group{{Name: Others, Weight: 1}}
	} else {
		s.Groups = append(append([]frontback.Group{}, s.Groups...), frontback.Group{Name: Others})
	}
	return s
}

// Group is the group of a pool: that of the longest path that leads to it.
func (g *Groups) Group(pool string) string {
	best, length := Others, -1
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

// usedFor is what a task has that holds what it asks for, for so long.
func usedFor(l *api.Lease, unit string, seconds float64) frontback.Use {
	u := frontback.Use{Seconds: seconds, Resources: map[string]float64{}}
	for name, n := range l.Job.Request {
		u.Resources[name] = float64(n)
	}
	u.Resources[unit] = max(1, u.Resources[unit])
	u.Processes = max(1, u.Resources["cpu"])
	u.CPUSeconds = seconds * u.Processes
	if _, err := fmt.Sscan(l.Job.Env[WorkVariable], &u.Work); err != nil || !(u.Work >= 0) {
		u.Work = 0
	}
	return u
}

// For are the groups with what was left open: without any they are the pools of a tree, or,
// where that has none, those that jobs name, of the same weight; what is divided is time on
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
