package fairlead

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Shares is what an administrator decides: who is entitled to what, and where jobs
// go. Package config reads it from a file.
type Shares struct {
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
	// Hash tells versions of a configuration apart.
	Hash string
}

// DefaultShares are in force without a configuration: every user has an equal share
// under the policy fair, with a half-life of seven days.
func DefaultShares() Shares {
	s := Shares{Hash: "default"}
	s.Sched.Root = share.Pool{Policy: "fair"}
	s.Sched.NewPolicy = policy.New(policy.Options{})
	s.Sched.Priorities = sched.DefaultPriorities()
	s.Sched.HalfLife = week
	s.Sched.Reclaim.Grace = 30 * time.Minute
	return s
}

// priority returns the index of a priority.
func (s *Shares) priority(name string) (int, bool) {
	i := slices.IndexFunc(s.Sched.Priorities, func(p sched.Priority) bool { return p.Name == name })
	return i, i >= 0
}

// defaultPriority is normal, or the middle one where no priority is called that.
func (s *Shares) defaultPriority() string {
	if _, ok := s.priority("normal"); ok {
		return "normal"
	}
	return s.Sched.Priorities[len(s.Sched.Priorities)/2].Name
}

// settle fills in what a submitted job leaves open, and says what in it does not go
// with the configuration.
func (s *Shares) settle(j *Job) error {
	j.Requestor = cmp.Or(j.Requestor, j.User)
	j.Priority = cmp.Or(j.Priority, s.defaultPriority())
	if _, ok := s.priority(j.Priority); !ok {
		return invalid("priority", "%q is not a priority; known: %s", j.Priority, strings.Join(s.priorities(), ", "))
	}
	if err := s.settleTolls(j); err != nil {
		return err
	}
	if err := s.checkQOS(j.QOS); err != nil {
		return err
	}
	if err := s.settlePool(j); err != nil {
		return err
	}
	return s.settleLimit(j)
}

// settlePool decides into which pool a job goes.
func (s *Shares) settlePool(j *Job) error {
	if j.Pool == "" {
		return s.settlePlace(j)
	}
	if err := share.CheckPath(j.Pool); err != nil {
		return invalid("pool", "%v", err)
	}
	pool := s.Sched.Root.Find(j.Pool)
	if pool == nil && s.Closed {
		return invalid("pool", "%q is not in the share tree; known pools: %s", j.Pool, s.pools())
	}
	if pool != nil && len(pool.Pools) > 0 {
		return s.settleBelow(j)
	}
	return nil
}

// settlePlace sends a job that names no pool where the placement rules want it: what
// they name is there as soon as it is needed, in a closed tree as well. Without rules a
// closed tree takes only those users who have a pool in it, or have the pool default.
func (s *Shares) settlePlace(j *Job) error {
	j.Pool = s.place(j)
	pool := s.Sched.Root.Find(j.Pool)
	switch {
	case pool != nil || !s.Closed || s.Placement != nil:
		return nil
	case s.Sched.Root.Find(share.DefaultPool) != nil:
		j.Pool = share.DefaultPool
		return nil
	}
	return invalid("pool", "jobs of %s belong into %q, which is not in the share tree; name one of its pools: %s", j.User, j.Pool, s.pools())
}

// settleBelow sends a job that names a pool with children to the child of its user.
func (s *Shares) settleBelow(j *Job) error {
	path := share.Join(j.Pool, share.CleanName(cmp.Or(j.User, share.DefaultPool)))
	if s.Closed && s.Sched.Root.Find(path) == nil {
		return invalid("pool", "%q has no place for %s; known pools: %s", j.Pool, j.User, s.pools())
	}
	j.Pool = path
	return nil
}

func (s *Shares) place(j *Job) string {
	if s.Placement == nil {
		own := share.CleanName(cmp.Or(j.User, share.DefaultPool))
		if class := s.leastLoaded(); class != "" && s.Sched.Root.Find(own) == nil {
			return class
		}
		return own
	}
	path, rule := s.Placement.Place(share.Origin{User: j.User, Group: j.Group, Kind: j.Kind, Requestor: j.Requestor})
	if class := s.leastLoaded(); class != "" && rule < 0 {
		return class
	}
	return path
}

// leastLoaded is the class with the smallest load, which takes the jobs that belong to no
// other where the policy load divides among all; of several, the first in the order of
// their names. It is "" under other policies.
func (s *Shares) leastLoaded() string {
	root := &s.Sched.Root
	if root.Policy != "load" || len(root.Pools) == 0 {
		return ""
	}
	return slices.MinFunc(root.Pools, func(a, b share.Pool) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
	}).Name
}

func (s *Shares) priorities() []string {
	names := make([]string, len(s.Sched.Priorities))
	for i, p := range s.Sched.Priorities {
		names[i] = p.Name
	}
	return names
}

// pools lists the configured pools for an error message.
func (s *Shares) pools() string {
	var names []string
	for path := range s.Sched.Root.All() {
		if names = append(names, path); len(names) == 20 {
			return strings.Join(names, ", ") + ", …"
		}
	}
	return strings.Join(names, ", ")
}

// shape numbers the request of a job, what it needs to run included.
func (s *Shares) request(h Header) Amounts {
	a := Amounts{}
	for name, n := range h.Request {
		a[name] = n
	}
	if h.Handler {
		a[handlerPrefix+h.Kind] = 1
	} else {
		a[execResource] = 1
	}
	return a
}

// Request describes what a task asks for, in words: "2 cpu, 4 gpu".
func Request(a Amounts, unit string) string {
	var parts []string
	for name, n := range a {
		if name != unit && n > 0 && name != execResource && !strings.HasPrefix(name, handlerPrefix) {
			parts = append(parts, amount(name, n))
		}
	}
	slices.Sort(parts)
	return strings.Join(append([]string{amount(unit, max(1, a[unit]))}, parts...), ", ")
}
