package allocation

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Config is the set of an administrator's decisions: the entitlements of pools, and the placement of jobs. Package
// config reads it from a file.
type Config struct {
	Sched sched.Config
	// Placement chooses the pool of a job that names none. If it is nil each user has a pool with the user's name.
	PlacementRules *share.PlacementRules
	// Closed restricts jobs to the pools of the tree: a job may not name any other.
	Closed bool
	// KindRates are the rates to which all jobs of a kind are subject.
	KindRates map[string][]string
	// Site gives jobs a value that the site defines, under the policy multifactor; SiteRules are its rules.
	Site      *share.Site
	SiteRules []share.SiteRule
	// Levels are the qualities of service that jobs may name.
	Levels []string
	// Access holds the rules of who may do what.
	Access access.Rules
	// Users limits each user who submits within limits; see engine.SubmitOptions.
	Users UserLimits
	// Hash identifies this version of the configuration.
	Hash string
}

// UserLimits bounds the jobs, tasks and pools of one user at a time; 0 is no limit.
type UserLimits struct {
	Jobs  int // jobs with tasks that have not started
	Tasks int // unstarted tasks of these jobs
	Pools int // pools that the user's jobs made and the configuration does not name
	// Running bounds the user's tasks that run at once; further tasks wait.
	Running int
}

// Default returns the configuration that is current if there is no file: every user has an equal share under the policy
// fair, with a half-life of seven days.
func Default() Config {
	s := Config{Hash: "default"}
	s.Sched.Root = share.Pool{Policy: "fair"}
	s.Sched.NewPolicy = policy.New(policy.Options{})
	s.Sched.Priorities = sched.DefaultPriorities()
	s.Sched.Backfill, s.Sched.Depth = sched.EASY, 1000
	s.Sched.HalfLife = week
	s.Sched.Reclaim.Grace = 30 * time.Minute
	return s
}

// Complete fills in what a hand-written configuration may leave out: the policies of pools, the policy of the root, the
// priorities. The zero Config becomes [Default].
func (c Config) Complete() Config {
	if reflect.ValueOf(c).IsZero() {
		return Default()
	}
	d := Default()
	if c.Sched.NewPolicy == nil {
		c.Sched.NewPolicy = d.Sched.NewPolicy
	}
	if len(c.Sched.Priorities) == 0 {
		c.Sched.Priorities = d.Sched.Priorities
	}
	c.Sched.UserRunning = c.Users.Running
	c.Sched.Root.Policy = cmp.Or(c.Sched.Root.Policy, d.Sched.Root.Policy)
	return c
}

// Priority returns the index of a priority.
func (c *Config) Priority(name string) (int, bool) {
	i := slices.IndexFunc(c.Sched.Priorities, func(p sched.Priority) bool { return p.Name == name })
	return i, i >= 0
}

// DefaultPriority returns normal, or the middle priority if none has that name.
func (c *Config) DefaultPriority() string {
	if _, ok := c.Priority("normal"); ok {
		return "normal"
	}
	return c.Sched.Priorities[len(c.Sched.Priorities)/2].Name
}

// Unit returns the resource in which shares are counted.
func (c *Config) Unit() string { return cmp.Or(c.Sched.Unit, sched.DefaultUnit) }

// CheckUnit refuses a task that requests 0 of the unit. A task that does not name the unit gets one.
func (c *Config) CheckUnit(j *queue.Job) error {
	unit := c.Unit()
	if cluster.WithTypes(j.Request)[unit] > 0 {
		return nil
	}
	for name, n := range j.Request {
		if base, _, _ := strings.Cut(name, ":"); n != 0 || name != unit && base != unit {
			continue
		}
		return queue.Invalidf("request", "each task takes at least one %s, in which shares are counted (unit); ask for 1 or more, or leave it out, which is 1", unit)
	}
	return nil
}

// Priorities returns the names of the priorities, in their order.
func (c *Config) Priorities() []string {
	names := make([]string, len(c.Sched.Priorities))
	for i, p := range c.Sched.Priorities {
		names[i] = p.Name
	}
	return names
}

// pools lists the configured pools for an error message.
func (c *Config) pools() string {
	var names []string
	for path := range c.Sched.Root.All() {
		if names = append(names, path); len(names) == 20 {
			return strings.Join(names, ", ") + ", …"
		}
	}
	return strings.Join(names, ", ")
}

// Named returns the pools that the configuration names.
func (c *Config) Named() map[string]bool {
	named := map[string]bool{}
	for path := range c.Sched.Root.All() {
		named[path] = true
	}
	return named
}

// Request returns what a task of a job requests from a node, including the ability to run commands or the job's kind.
func (c *Config) Request(h queue.Header) queue.Amounts {
	a := queue.Amounts{}
	for name, n := range h.Request {
		a[name] = n
	}
	if h.Handler {
		a[queue.HandlerPrefix+h.Kind] = 1
	} else {
		a[queue.ExecResource] = 1
	}
	return a
}

// RequestText describes the request of a task in words: "2 cpu, 4 gpu".
func RequestText(a queue.Amounts, unit string) string {
	var parts []string
	for name, n := range a {
		if name != unit && n > 0 && name != queue.ExecResource && !strings.HasPrefix(name, queue.HandlerPrefix) {
			parts = append(parts, units.Amount(name, n))
		}
	}
	slices.Sort(parts)
	return strings.Join(append([]string{units.Amount(unit, max(1, a[unit]))}, parts...), ", ")
}

const week = 7 * 24 * time.Hour
