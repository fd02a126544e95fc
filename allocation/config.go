package allocation

import (
	"cmp"
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

// Config is what an administrator decides: who is entitled to what, and where jobs
// go. Package config reads it from a file.
type Config struct {
	Sched sched.Config
	// Placement says into which pool a job goes that names none. Without it each user
	// has a pool of the user's name.
	Placement *share.Placement
	// Closed is set when a job may name only pools that the tree names.
	Closed bool
	// KindRates are the rates to which all jobs of a kind are subject.
	KindRates map[string][]string
	// Site gives jobs a value of the site's own, under the policy multifactor; SiteRules
	// are its rules.
	Site      *share.Site
	SiteRules []share.SiteRule
	// Levels are the qualities of service that jobs may name.
	Levels []string
	// Access says who may do what.
	Access access.Rules
	// Users bound what one user may have of those who submit within limits; see engine.SubmitOptions.
	Users UserLimits
	// Hash tells versions of a configuration apart.
	Hash string
}

// UserLimits bound what one user may have at a time; 0 is no limit.
type UserLimits struct {
	Jobs  int // with tasks that have not started
	Tasks int // of these jobs, that have not started
	Pools int // that the user's jobs have made, and the configuration does not name
}

// Default is in force without a configuration: every user has an equal share
// under the policy fair, with a half-life of seven days.
func Default() Config {
	s := Config{Hash: "default"}
	s.Sched.Root = share.Pool{Policy: "fair"}
	s.Sched.NewPolicy = policy.New(policy.Options{})
	s.Sched.Priorities = sched.DefaultPriorities()
	s.Sched.Placement, s.Sched.Depth = sched.EASY, 1000
	s.Sched.HalfLife = week
	s.Sched.Reclaim.Grace = 30 * time.Minute
	return s
}

// Priority returns the index of a priority.
func (c *Config) Priority(name string) (int, bool) {
	i := slices.IndexFunc(c.Sched.Priorities, func(p sched.Priority) bool { return p.Name == name })
	return i, i >= 0
}

// DefaultPriority is normal, or the middle one where no priority is called that.
func (c *Config) DefaultPriority() string {
	if _, ok := c.Priority("normal"); ok {
		return "normal"
	}
	return c.Sched.Priorities[len(c.Sched.Priorities)/2].Name
}

// Unit is the resource in which shares are counted.
func (c *Config) Unit() string { return cmp.Or(c.Sched.Unit, sched.DefaultUnit) }

// CheckUnit refuses a task that asks for none of the unit. One that does not name it gets one.
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

// Priorities are the names of the priorities, in their order.
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

// Named are the pools that the configuration names.
func (c *Config) Named() map[string]bool {
	named := map[string]bool{}
	for path := range c.Sched.Root.All() {
		named[path] = true
	}
	return named
}

// Request is what a task of a job asks of a node: also the ability to run commands, or the kind of job.
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

// RequestText describes what a task asks for, in words: "2 cpu, 4 gpu".
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
