package sched

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// quotas are the licenses that tasks hold, and the rates at which they start.
type quotas struct {
	site  *site
	lines *lines

	needs       []*quotaNeeds // by key; nil for most
	licenses    []license
	rates       []rate
	licenseOf   map[string]int32
	rateOf      map[string]int32
	parkedRates int // lines
}

// Request is what a task asks for.
type Request struct {
	Amounts cluster.Amounts // on one node
	// Constraint is what the labels of the node have to satisfy.
	Constraint cluster.Constraint
	Licenses   map[string]int64 // of the whole cluster, held while the task runs
	Rates      []string         // under which the start counts
	// Gang is how many tasks start all at once, or not at all; 0 and 1: each for itself. A
	// job of a gang has as many tasks.
	Gang   int
	Spread bool // each task of the gang on a node of its own
	// Reservation is the name of the window in which they run; see [cluster.Window].
	Reservation string
}

// quotaNeeds are the licenses and rates that the tasks with a key ask for.
type quotaNeeds struct {
	licenses []need
	rates    []int32
}

type need struct {
	license int32
	n       int64
}

// license is a number of things that tasks hold while they run, on whichever node.
type license struct {
	name        string
	of          string // see [Held]
	total, used int64
	unlimited   bool // as many are free as there are, however many are in use; in a copy that lists the order
	parked      []lineRef
}

// free is how many are free.
func (l *license) free() int64 {
	if l.unlimited {
		return l.total
	}
	return l.total - l.used
}

// rate is a limit of starts per time. One that is not configured limits nothing.
type rate struct {
	name string
	Bucket
	setAt  time.Time // as of when it was set, by the clock of whoever keeps it
	parked []lineRef
}

// number numbers a request. Tasks with different licenses or rates have different keys, so that
// they wait in different lines and one that has to wait does not hold up the other.
func (c *quotas) number(r Request) cluster.Key {
	var t quotaNeeds
	var marks []string
	for _, name := range slices.Sorted(maps.Keys(r.Licenses)) {
		if n := r.Licenses[name]; n > 0 {
			t.licenses = append(t.licenses, need{c.licenseNumber(name), n})
			marks = append(marks, fmt.Sprintf("%s=%d", name, n))
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.Rates))) {
		t.rates = append(t.rates, c.rateNumber(name))
		marks = append(marks, name)
	}
	key := c.site.cluster.KeyOf(cluster.Ask{
		Amounts: r.Amounts, Must: r.Constraint, Mark: strings.Join(marks, " "), Gang: r.Gang, Spread: r.Spread, Window: r.Reservation,
	})
	if len(marks) == 0 {
		return key
	}
	for len(c.needs) <= int(key) {
		c.needs = append(c.needs, nil)
	}
	if c.needs[key] == nil {
		c.needs[key] = &t
	}
	return key
}

// needsOf returns the licenses and rates that tasks with a key ask for, nil if they ask for none.
func (c *quotas) needsOf(key cluster.Key) *quotaNeeds {
	if int(key) < len(c.needs) {
		return c.needs[key]
	}
	return nil
}

func (c *quotas) licenseNumber(name string) int32 {
	n, ok := c.licenseOf[name]
	if !ok {
		n = int32(len(c.licenses))
		c.licenses = append(c.licenses, license{name: name, of: "license " + name})
		c.licenseOf[name] = n
	}
	return n
}

func (c *quotas) rateNumber(name string) int32 {
	n, ok := c.rateOf[name]
	if !ok {
		n = int32(len(c.rates))
		c.rates = append(c.rates, rate{name: name})
		c.rateOf[name] = n
	}
	return n
}

// setQuotas puts the configured licences and rates in force. A licence that is not
// configured any more has the number 0, so that nothing starts that asks for it; a rate
// that is not configured any more limits nothing.
func (c *quotas) setQuotas(cfg *Config) {
	for name := range cfg.Licenses {
		c.licenseNumber(name)
	}
	for name := range cfg.Rates {
		c.rateNumber(name)
	}
	for i := range c.licenses {
		l := &c.licenses[i]
		l.total, l.parked = cfg.Licenses[l.name], nil
	}
	for i := range c.rates {
		r := &c.rates[i]
		r.change(cfg.Rates[r.name], c.site.at)
		r.parked = nil
	}
	c.parkedRates = 0
}

// lackingLicense is the first license that has too few free for a number of tasks; nil if
// there is none.
func (c *quotas) lackingLicense(t *quotaNeeds, tasks int64) *license {
	for _, need := range t.licenses {
		if l := &c.licenses[need.license]; tasks*need.n > l.free() {
			return l
		}
	}
	return nil
}

// lackingFor is lackingLicense for tasks with a key.
func (c *quotas) lackingFor(key cluster.Key, tasks int64) *license {
	if t := c.needsOf(key); t != nil {
		return c.lackingLicense(t, tasks)
	}
	return nil
}

// countStart takes the tokens of a start.
func (c *quotas) countStart(t *quotaNeeds) {
	for _, n := range t.rates {
		if r := &c.rates[n]; r.Limit.Count > 0 {
			r.Take(c.site.at, 1)
		}
	}
}

// hold takes the licences of a task, or gives them back with the sign -1.
func (c *quotas) hold(t *quotaNeeds, sign int64) {
	for _, need := range t.licenses {
		c.licenses[need.license].used += sign * need.n
	}
}

// leastOf is with how many tokens the first of the lines that wait for a rate goes on.
func (w *lines) leastOf(r *rate) int64 {
	least := r.Limit.burst()
	for _, at := range r.parked {
		if least = min(least, r.Least(w.site.atOnce(w.line(at).key))); least == 1 {
			break
		}
	}
	return least
}

// nextToken is the earliest instant at which a line that waits for a rate may go on;
// zero if none waits.
func (c *quotas) nextToken() (next time.Time) {
	if c.parkedRates == 0 {
		return next
	}
	for i := range c.rates {
		if r := &c.rates[i]; len(r.parked) > 0 {
			if t := r.when(c.lines.leastOf(r)); next.IsZero() || t.Before(next) {
				next = t
			}
		}
	}
	return next
}

// holdsLicense reports whether tasks with a key hold licences.
func (c *quotas) holdsLicense(key cluster.Key) bool {
	t := c.needsOf(key)
	return t != nil && len(t.licenses) > 0
}

// licensesOf returns the licenses that a number of tasks with a key take, by number.
func (c *quotas) licensesOf(key cluster.Key, tasks int64) cluster.Vector {
	v := make(cluster.Vector, len(c.licenses))
	for _, need := range c.needs[key].licenses {
		v[need.license] = tasks * need.n
	}
	return v
}
