package sched

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// View gives read access to the state of a scheduler: its pools, its jobs, its limits. It decides nothing and
// changes nothing, and is valid until the next event of the scheduler.
type View struct{ s *Scheduler }

// Read returns a view of the scheduler.
func (s *Scheduler) Read() View { return View{s} }

// View returns the state of a pool, valid until the next event.
func (s *Scheduler) View(id PoolID) *Pool { return &s.tree.pools[id] }

// Pools is the number of pools; they are numbered from 0, the root.
func (v View) Pools() int { return len(v.s.tree.pools) }

// Parent returns the pool above; the root is its own.
func (v View) Parent(id PoolID) PoolID { return PoolID(max(0, v.s.tree.pools[id].parent)) }

// Children returns the child pools, in the order in which they were created.
func (v View) Children(id PoolID) []PoolID {
	var ids []PoolID
	if in := v.s.tree.pools[id].inner; in >= 0 {
		for _, kid := range v.s.tree.inners[in].kids {
			ids = append(ids, PoolID(kid))
		}
	}
	return ids
}

// Name is the last segment of a pool's path, or the priority of a priority class.
func (v View) Name(id PoolID) string { return v.s.tree.labels[id].name }

// PriorityClass reports whether the pool is not in the configured tree but holds the jobs of one priority of the
// leaf pool above it.
func (v View) PriorityClass(id PoolID) bool { return v.s.tree.labels[id].kind == priorityClass }

// PriorityOf is the name of the priority of a priority class, as in [View.Name]; "" for other pools.
func (s *Scheduler) PriorityOf(id PoolID) string {
	if s.Read().PriorityClass(id) {
		return s.Read().Name(id)
	}
	return ""
}

// Configured reports whether the configuration names the pool.
func (v View) Configured(id PoolID) bool { return v.s.tree.pools[id].configured }

// PolicyName is the name of the pool's policy.
func (v View) PolicyName(id PoolID) string {
	at := int32(id)
	for v.s.tree.labels[at].policy == "" && at != int32(Root) {
		at = v.s.tree.pools[at].parent
	}
	return v.s.tree.labels[at].policy
}

// Policy returns the pool's policy, nil for a leaf.
func (v View) Policy(id PoolID) Policy {
	if in := v.s.tree.pools[id].inner; in >= 0 {
		return v.s.tree.inners[in].policy
	}
	return nil
}

// Limits are the limits of a pool, and the used amounts.
type Limits struct {
	Min, Max, Used   cluster.Amounts
	Tasks, JobTasks  int // at the same time, of the pool and of one of its jobs; 0 is no limit
	AtMaximumOfTasks bool
}

// Limits returns the limits of a pool, and whether it has any.
func (v View) Limits(id PoolID) (Limits, bool) {
	l := v.s.tree.limits(int32(id))
	if l == nil {
		return Limits{}, false
	}
	most := cluster.Amounts{}
	for r, n := range l.max {
		if n >= 0 {
			most[v.s.site.cluster.Resource(r)] = n
		}
	}
	return Limits{
		Min: v.s.site.cluster.Amounts(l.min), Max: most, Used: v.s.site.cluster.Amounts(l.used),
		Tasks: int(l.tasks), JobTasks: int(l.jobRunning),
		AtMaximumOfTasks: l.tasks > 0 && v.s.tree.pools[id].Tasks >= l.tasks,
	}, true
}

// Instant is the instant of the last event.
func (v View) Instant() time.Time { return v.s.site.at }

// Now is the instant of the last event in the units of the clock.
func (v View) Now() usage.Now { return v.s.site.now }

// Clock returns the clock that defines the units of all amounts.
func (v View) Clock() usage.Clock { return v.s.site.clock }

// Cluster returns the cluster. Callers must not change it.
func (s *Scheduler) Cluster() *cluster.Cluster { return s.site.cluster }

// Key returns the key of a request that consists of amounts only.
func (s *Scheduler) Key(a cluster.Amounts) cluster.Key { return s.site.cluster.Key(a) }

// GangOfRun is the number of tasks that start together with a running task, itself included: 1 if it started by
// itself.
func (v View) GangOfRun(id RunID) int {
	n, _ := v.s.site.cluster.Gang(v.s.running.run(id).key)
	return n
}

// Config is the current configuration.
func (v View) Config() Config { return v.s.site.cfg }

// Steps is the number of steps so far.
func (v View) Steps() uint64 { return v.s.placement.steps }

// Boosts lists the active boosts that the caller started, by id, with the service that their pools have received so
// far.
func (v View) Boosts() []Boost {
	var out []Boost
	for slot := range v.s.overrides.boosts.slots {
		if b := &v.s.overrides.boosts.slots[slot]; b.ID != 0 {
			out = append(out, v.s.overrides.boostNow(b))
		}
	}
	slices.SortFunc(out, func(a, b Boost) int { return int(a.ID - b.ID) })
	return out
}

// BoostsOf lists the boosts of a pool, starters included, in the order in which they started.
func (v View) BoostsOf(id PoolID) []Boost {
	var out []Boost
	for _, slot := range v.s.overrides.boosts.of[int32(id)] {
		out = append(out, v.s.overrides.boostNow(&v.s.overrides.boosts.slots[slot]))
	}
	return out
}

// BaseWeight is the pool's weight without boosts.
func (v View) BaseWeight(id PoolID) float64 { return v.s.tree.labels[id].weight }

// UsageUnit is the unit of usage.
func (v View) UsageUnit() string {
	if v.s.site.cfg.Charge.IsZero() {
		return v.s.site.cluster.Unit()
	}
	return "charge"
}

// Rate is the charge of a running task per second: 0 before it has begun.
func (v View) Rate(id RunID) float64 { return v.s.running.run(id).rate() }

// Charged is the charge of a running task per second; 0 if it equals its units.
func (v View) Charged(id RunID) float64 {
	r := v.s.running.run(id)
	if r.price == v.s.site.cluster.Width(r.key) {
		return 0
	}
	return r.price
}

// PauseOf returns the pause that holds a pool: its own, or that of the nearest pool above.
func (v View) PauseOf(id PoolID) (p Pause, paused bool) { return v.s.overrides.PauseOf(id) }

// Pauses lists the active pauses, by pool.
func (v View) Pauses() []Pause {
	return slices.SortedFunc(maps.Values(v.s.overrides.pauses.all), func(a, b Pause) int {
		return cmp.Compare(a.Pool, b.Pool)
	})
}

// Ranks reports whether some jobs have priorities of their own.
func (v View) Ranks() bool { return v.s.precedence.ranks != nil }

// RatesOf returns the rates that the start of a task counts under.
func (v View) RatesOf(id RunID) (out []RateLimit) {
	t := v.s.quotas.needsOf(v.s.running.run(id).key)
	if t == nil {
		return nil
	}
	for _, n := range t.rates {
		if r := &v.s.quotas.rates[n]; r.Limit.Count > 0 {
			out = append(out, RateLimit{r.name, r.Limit})
		}
	}
	return out
}

// Queued is the number of running tasks in and below a pool that have not begun, but wait in queues of their nodes,
// and the number of their units.
func (v View) Queued(id PoolID) (tasks int, units float64) {
	q := v.s.tree.queued[int32(id)]
	return int(q.tasks), q.units
}

// Held is a limited amount that a task holds while it runs, whichever server starts it: a license, or a part of the
// maximum of a pool above it.
type Held struct {
	Of     string // e.g. license matlab, max_running of physics
	Amount int64
	Max    int64 // amount that all running tasks together may hold
	Now    int64 // of a license: the amount that all running tasks hold
}

// HeldBy returns the limited amounts that a task holds, under the present limits. If several schedulers start tasks
// at the same moment, each within the limits, some part that sees all of them has to check the sum.
func (v View) HeldBy(id RunID) (out []Held) {
	r := v.s.running.run(id)
	if t := v.s.quotas.needsOf(r.key); t != nil {
		for _, need := range t.licenses {
			l := &v.s.quotas.licenses[need.license]
			out = append(out, Held{l.of, need.n, l.total, l.used})
		}
	}
	if u, most := v.s.quotas.userOfKey(r.key), int64(v.s.site.cfg.UserRunning); u != nil && most > 0 {
		out = append(out, Held{u.of, 1, most, u.used})
	}
	request := v.s.site.cluster.Request(r.key)
	for at := r.pool; at >= 0; at = v.s.tree.pools[at].parent {
		if l := v.s.tree.limits(at); l != nil {
			out = l.held(out, request)
		}
	}
	return out
}

// held adds the amounts that a task holds of the maxima of a pool.
func (l *limit) held(out []Held, request []int64) []Held {
	if l.tasks > 0 {
		out = append(out, Held{Of: l.names.tasks, Amount: 1, Max: int64(l.tasks)})
	}
	for r, n := range request {
		if r < len(l.max) && l.max[r] >= 0 && n > 0 {
			out = append(out, Held{Of: l.names.max[r], Amount: n, Max: l.max[r]})
		}
	}
	return out
}

// Starving is a pool that reclaim cannot help. For longer than the timeout of a rule of [Reclaim], the pool has had
// less than the rule grants it. The last try found no task to stop for the pool.
type Starving struct {
	Pool     PoolID
	Rule     StopRule
	Resource int // resource of the numbers below
	Running  float64
	Goal     float64 // the minimum, or the entitlement
	Since    time.Time
	// Protected is the number of units held outside the pool by running tasks that are never stopped for others.
	Protected float64
}

// Starving lists the pools that reclaim cannot help, by number.
func (v View) Starving() []Starving {
	var all []Starving
	kept := v.s.running.spared(v.s.tree.reclaimSettings())
	for _, h := range v.s.reclaimer.hungry {
		if !h.fruitless {
			continue
		}
		x := Starving{Pool: PoolID(h.pool), Rule: h.rule, Resource: h.resource, Running: h.running, Goal: h.goal, Since: h.since}
		if kept != nil {
			x.Protected = kept[Root] - kept[h.pool]
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Starving) int {
		return cmp.Or(cmp.Compare(a.Pool, b.Pool), -cmp.Compare(a.Rule, b.Rule))
	})
	return all
}

// GateView reads the gates that hold jobs back.
type GateView struct{ s *Scheduler }
