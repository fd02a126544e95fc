package sched

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// quotas are the licenses that tasks hold, the rates that limit their starts, and the running tasks of users.
type quotas struct {
	site   *site
	queues *queues

	needs     []*quotaNeeds // by key; nil for most
	licenses  []license
	rates     []rate
	licenseOf map[string]int32
	rateOf    map[string]int32

	users  []userTasks
	userOf map[string]int32
}

// Request is the request of a task.
type Request struct {
	Amounts cluster.Amounts // on one node
	// Constraint restricts the labels of the node.
	Constraint cluster.Constraint
	Licenses   map[string]int64 // of the cluster, held while the task runs
	Rates      []string         // the start counts under them
	// Gang is the number of tasks that start at the same moment or not at all; with 0 or 1 each starts by itself. A
	// job that is a gang has exactly this number of tasks.
	Gang   int
	Spread bool // each task of the gang on a separate node
	// Reservation is the name of the window that the tasks run in; see [cluster.Window].
	Reservation string
	// User is the user whose running tasks [Config.UserRunning] limits; "" for tasks that it does not limit.
	User string
}

// quotaNeeds are the licenses and rates of the tasks with a key.
type quotaNeeds struct {
	licenses []need
	rates    []int32
	user     int32 // from 1; 0: none
}

type need struct {
	license int32
	n       int64
}

// license is a countable right that tasks hold while they run, on any node.
type license struct {
	name        string
	of          string // see [Held]
	total, used int64
	unlimited   bool // all count as free, in a copy that only lists the order
	parked      []subRef
}

// free is the number of copies of the license that are free.
func (l *license) free() int64 {
	if l.unlimited {
		return l.total
	}
	return l.total - l.used
}

// userTasks are the running tasks of a user.
type userTasks struct {
	name   string
	of     string // see [Held]
	used   int64
	parked []subRef
}

// rate is a limit on starts per time. A rate that is not configured limits nothing.
type rate struct {
	name string
	Bucket
	setAt  time.Time // when it was set, by the clock of the program that stores it
	parked []subRef
}

// number returns the key of a request. Tasks with different licenses, rates or limited users have different keys, so
// that they wait in different sub-queues and do not delay each other.
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
	if r.User != "" {
		t.user = c.userNumber(r.User)
		marks = append(marks, "user:"+r.User)
	}
	c.site.windowed = c.site.windowed || r.Reservation != ""
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

// needsOf returns the licenses, rates and limited user of tasks with a key, nil if there are none.
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

// userOfKey returns the user of tasks with a key, nil if their requests name none.
func (c *quotas) userOfKey(key cluster.Key) *userTasks {
	if t := c.needsOf(key); t != nil && t.user > 0 {
		return &c.users[t.user-1]
	}
	return nil
}

// userNumber returns the number of a user, from 1.
func (c *quotas) userNumber(name string) int32 {
	n, ok := c.userOf[name]
	if !ok {
		c.users = append(c.users, userTasks{name: name, of: "running of " + name})
		n = int32(len(c.users))
		c.userOf[name] = n
	}
	return n
}

// setQuotas applies the configured licenses and rates. A license that is no longer configured has a total of 0, so
// that no task with it starts; a rate that is no longer configured limits nothing.
func (c *quotas) setQuotas(cfg *Config) {
	for name := range cfg.Licenses {
		c.licenseNumber(name)
	}
	for name := range cfg.Rates {
		c.rateNumber(name)
	}
	for i := range c.licenses {
		l := &c.licenses[i]
		l.total = cfg.Licenses[l.name]
	}
	for i := range c.rates {
		r := &c.rates[i]
		r.change(cfg.Rates[r.name], c.site.at)
	}
}

// lackingLicense is the first license with too few free for a number of tasks; nil if there is none.
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

// hold counts a task, and takes its licenses, or gives them back if sign is -1.
func (c *quotas) hold(t *quotaNeeds, sign int64) {
	if t.user > 0 {
		c.users[t.user-1].used += sign
	}
	for _, need := range t.licenses {
		c.licenses[need.license].used += sign * need.n
	}
}

// holdsLicense reports whether tasks with a key hold licenses.
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
