package fairlead

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// PoolView is a pool as `fairlead shares` shows it.
type PoolView struct {
	Path       string  `json:"pool"`
	Depth      int     `json:"depth"` // 0 is the root
	Policy     string  `json:"policy"`
	Weight     float64 `json:"weight"` // boosts included
	BaseWeight float64 `json:"base_weight"`
	Boosts     []Boost `json:"boosts,omitempty"`
	// Paused is the pause that keeps what waits in it from starting: its own, or that of a
	// pool above, whose path it tells.
	Paused     *Pause  `json:"paused,omitempty"`
	Share      float64 `json:"share"`        // of the whole
	ShareHere  float64 `json:"share_here"`   // of the pool above
	FairNow    float64 `json:"fair_now"`     // units, given the demand at this instant
	Want       float64 `json:"want"`         // units that run or wait
	Running    float64 `json:"running"`      // units
	Tasks      int32   `json:"tasks"`        // that run
	Waiting    int64   `json:"waiting"`      // tasks that could start if there were room, and Queued
	Queued     int     `json:"queued"`       // of these: tasks that wait in another queueing system
	Used       float64 `json:"used"`         // decayed, slot-seconds
	UsedHere   float64 `json:"used_here"`    // as a fraction of the pool above
	Mean       float64 `json:"mean_seconds"` // of its tasks that ended
	Min        Amounts `json:"min,omitempty"`
	Max        Amounts `json:"max,omitempty"`
	MaxRunning int     `json:"max_running,omitempty"`
	Configured bool    `json:"configured"`
	// OldestWait is how long the oldest job in it has waited of which a task waits.
	OldestWait float64      `json:"oldest_wait_seconds"`
	Fairness   PoolFairness `json:"fairness"`
}

// Ratio is the share over the fraction used: above 1 the pool has had less than its
// share. It is +Inf if it has had nothing.
func (p *PoolView) Ratio() float64 {
	if p.UsedHere <= 0 {
		return math.Inf(1)
	}
	return p.ShareHere / p.UsedHere
}

// Pools returns the pools that the configuration names or that have work or usage,
// parents before their children.
func (l *Loop) Pools(ctx context.Context) []PoolView {
	_, pools := l.Fairness(ctx)
	return pools
}

// picture is what is told of all pools at one instant.
type picture struct {
	l        *Loop
	entitled []sched.Entitlement
	oldest   []int64 // job that waits, by pool
	now      time.Time

	out      []PoolView
	leaves   []int // in the account of fairness
	borrowed []Borrowed
}

func (p *picture) list(id sched.PoolID, depth int) {
	core := p.l.core
	x, now := core.View(id), core.Now()
	service := x.Service(now) / now.Growth
	if id != sched.Root && !core.Configured(id) && x.Waiting == 0 && x.Tasks == 0 && service < 1e-3 && len(core.BoostsOf(id)) == 0 && !p.l.ownPause(id) {
		return
	}
	e := &p.entitled[id]
	v := PoolView{
		Path: core.Path(id), Depth: depth, Policy: core.PolicyName(id), Weight: x.Weight,
		Share: e.Share, ShareHere: e.Here, FairNow: e.Now, Want: e.Demand,
		Running: p.l.begunUnits(id), Tasks: p.l.begunTasks(id), Waiting: p.l.waitingTasks(id), Used: service, Mean: x.Mean, Configured: core.Configured(id),
		OldestWait: p.l.arrivals.since(p.oldest[id], p.now),
	}
	if above := core.View(core.Parent(id)).Service(now) / now.Growth; above > 0 {
		v.UsedHere = service / above
	}
	v.Queued, _ = core.Queued(id)
	if lim, ok := core.Limits(id); ok {
		v.Min, v.Max, v.MaxRunning = Amounts(lim.Min), Amounts(lim.Max), lim.Tasks
	}
	kids := slices.DeleteFunc(core.Children(id), core.Band)
	p.fair(&v, id, kids)
	v.BaseWeight, v.Boosts, v.Paused = core.BaseWeight(id), p.l.boostsOf(id), p.l.pauseOf(id)
	p.out = append(p.out, v)
	p.lend(id, kids)
	for _, kid := range kids {
		p.list(kid, depth+1)
	}
}

// NodeView is a node as `fairlead nodes` shows it.
type NodeView struct {
	Name  string `json:"name"`
	State string `json:"state"` // up, drain, down, maintenance
	Why   string `json:"why,omitempty"`
	// Drained is set if an administrator lets it take nothing new: in the states drain and
	// maintenance, and while it is down.
	Drained  bool      `json:"drained,omitempty"`
	Capacity Amounts   `json:"capacity"`
	Free     Amounts   `json:"free"`
	Tasks    int       `json:"tasks"`
	Seen     time.Time `json:"last_seen"`
	Version  string    `json:"version,omitempty"`
	Host     string    `json:"host,omitempty"`
	Server   string    `json:"server,omitempty"` // that has it, if it is another one
	// Labels are what constraints of jobs compare.
	Labels map[string]string `json:"labels,omitempty"`
	// Windows are the reservations and maintenances of the node that are not over, by their
	// beginning; Kept the first of the jobs that room is kept for on it.
	Windows []why.Window `json:"windows,omitempty"`
	Kept    []why.Kept   `json:"kept,omitempty"`
}

// Nodes returns all nodes that have joined since the loop was made.
func (l *Loop) Nodes() []NodeView {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []NodeView
	c, now := l.core.Cluster(), time.Now()
	l.core.Advance(now) // windows may have begun or ended
	for i, n := range c.Nodes() {
		v := NodeView{Name: n.Name, State: n.State.String(), Labels: n.Labels, Tasks: n.Running, Capacity: shown(c.Amounts(n.Capacity)), Free: Amounts{}}
		free := c.Amounts(n.Free)
		for r := range v.Capacity {
			v.Free[r] = max(0, free[r])
		}
		if m := l.members[n.Name]; m != nil {
			v.Seen, v.Version, v.Host = m.seen, m.info.Version, m.info.Host
			if m.draining {
				v.Why = "its agent is stopping"
			}
		}
		if why := l.drainedText(n.Name); why != "" {
			v.Why, v.Drained = why, true
		}
		l.addPeer(&v, cluster.NodeID(i))
		l.addWindows(&v, cluster.NodeID(i), now)
		out = append(out, v)
	}
	return out
}

// shown leaves out what a node can do, which is counted without limit.
func shown(a cluster.Amounts) Amounts {
	out := Amounts{}
	for r, n := range a {
		if n < anyNumber/2 {
			out[r] = n
		}
	}
	return out
}

// Running is how many tasks run, and Waiting how many wait and could start if there
// were room, or wait in another queueing system.
func (l *Loop) Running() (running, waiting int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.begunTasks(sched.Root)), l.waitingTasks(sched.Root)
}

// Queued is how many of the tasks that wait are in other queueing systems.
func (l *Loop) Queued() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, _ := l.core.Queued(sched.Root)
	return int64(n)
}

// RunningSince is, for those of the jobs of which a task runs, since when the first of these
// runs. A job that was tried before began earlier.
func (l *Loop) RunningSince(jobs []*Job) map[int64]time.Time {
	since := map[int64]time.Time{}
	for _, j := range jobs {
		if j.Running > 0 {
			since[j.ID] = time.Time{}
		}
	}
	if len(since) == 0 {
		return since
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.runs {
		if first, asked := since[r.ref.JobID]; asked && !r.queued && (first.IsZero() || r.started.Before(first)) {
			since[r.ref.JobID] = r.started
		}
	}
	maps.DeleteFunc(since, func(_ int64, first time.Time) bool { return first.IsZero() })
	return since
}

// Versus says which of two goes first: a job, and another job, pool or user.
func (l *Loop) Versus(ctx context.Context, id int64, other string) (*why.Comparison, why.Units, error) {
	j, err := l.client.Job(ctx, id)
	if err != nil {
		return nil, why.Units{}, err
	}
	var against *Job
	if n, err := strconv.ParseInt(other, 10, 64); err == nil {
		if against, err = l.client.Job(ctx, n); err != nil {
			return nil, why.Units{}, err
		}
	}
	if err := l.sync(ctx); err != nil {
		return nil, why.Units{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Advance(time.Now())
	a := l.core.Leaf(l.jobOf(headerOf(j)))
	c := &why.Comparison{Version: why.Version, A: fmt.Sprint("job ", id), B: other, PoolA: l.core.Path(a)}
	var b sched.PoolID
	if against != nil {
		b, c.B = l.core.Leaf(l.jobOf(headerOf(against))), fmt.Sprint("job ", against.ID)
	} else if b, err = l.findPool(other); err != nil {
		return nil, why.Units{}, err
	}
	c.PoolB = l.core.Path(b)
	c.Standing = standing(j, against)
	if l.versusByPriority(c, j, against) {
		return c, l.units(), nil
	}
	level, parts := l.core.Parting(a, b)
	if parts {
		c.Decide(level)
		return c, l.units(), nil
	}
	return c, l.units(), l.sameLeaf(c, a, j, against)
}

// standing says which of two jobs does not wait for its turn at all.
func standing(jobs ...*Job) string {
	var parts []string
	for _, j := range jobs {
		switch {
		case j == nil || j.State == Waiting || j.Waiting > 0:
		case j.State.Ended():
			parts = append(parts, fmt.Sprintf("job %d has ended (%s)", j.ID, j.State))
		default:
			parts = append(parts, fmt.Sprintf("job %d is %s", j.ID, j.State))
		}
	}
	return strings.Join(parts, ", ")
}

// sameLeaf compares two jobs of one leaf: those with fewer running tasks first, unless
// it is first in, first out, and else in order of submission.
func (l *Loop) sameLeaf(c *why.Comparison, leaf sched.PoolID, j, against *Job) error {
	if against == nil {
		return fmt.Errorf("job %d is itself in %s: %w", j.ID, c.PoolB, ErrInvalid)
	}
	if against.ID == j.ID {
		return fmt.Errorf("job %d is compared with itself: %w", j.ID, ErrInvalid)
	}
	c.By, c.First = "order", "a"
	c.Note = fmt.Sprintf("both are in %s, where jobs go in order of submission", c.PoolA)
	before := against.ID < j.ID
	if !l.core.Strict(leaf) && against.Running != j.Running {
		before = against.Running < j.Running
		c.Note = fmt.Sprintf("both are in %s, where jobs with fewer running tasks go first: %d run of job %d, and %d of job %d", c.PoolA, j.Running, j.ID, against.Running, against.ID)
	}
	if before {
		c.First = "b"
	}
	return nil
}

// findPool finds a pool by its path, or the pool of a user by its last segment.
func (l *Loop) findPool(name string) (sched.PoolID, error) {
	if id, ok := l.core.Lookup(name); ok {
		return id, nil
	}
	var found []sched.PoolID
	for id := range l.core.Pools() {
		p := sched.PoolID(id)
		if path := l.core.Path(p); !l.core.Band(p) && strings.HasSuffix(path, "/"+name) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return 0, missing("no pool or user is called %.256q; see fairlead shares", name)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, p := range found {
		names = append(names, l.core.Path(p))
	}
	slices.Sort(names)
	return 0, invalid("pool", "%q is in several pools; name one of %s", name, strings.Join(names, ", "))
}

// LeaseTTL is for how long a task is leased.
func (l *Loop) LeaseTTL() time.Duration { return l.options.LeaseTTL }

// Capacity is what the nodes have in all, what of it is free, and the unit in which
// shares are counted.
func (l *Loop) Capacity() (capacity, free Amounts, unit string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.core.Cluster()
	all, left := c.Capacity()
	capacity, free = shown(c.Amounts(all)), Amounts{}
	names := c.Amounts(left)
	for r := range capacity {
		free[r] = names[r]
	}
	return capacity, free, c.Unit()
}

// UsageUnit is what the usage of pools is counted in: the unit, or charge.
func (l *Loop) UsageUnit() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.UsageUnit()
}

// AgentCapacity is the capacity of a node that runs commands or, if it names kinds, handles
// jobs of these without a command.
func AgentCapacity(a Amounts, kinds ...string) (Amounts, error) {
	out := Amounts{}
	for name, n := range a {
		switch {
		case ability(name):
			return nil, invalid("capacity", "%s is not an amount; a worker names its kinds", name)
		case n < 0 || n > maxAmount:
			return nil, invalid("capacity", "%s must be from 0 to %d, got %d", name, int64(maxAmount), n)
		}
		out[name] = n
	}
	if len(kinds) > maxKinds {
		return nil, invalid("kinds", "a worker handles at most %d kinds, got %d", maxKinds, len(kinds))
	}
	for _, kind := range kinds {
		if err := checkText("kinds", kind, MaxName); err != nil {
			return nil, err
		}
		if kind == "" {
			return nil, invalid("kinds", "a kind is empty")
		}
		out[handlerPrefix+kind] = anyNumber
	}
	if len(kinds) == 0 {
		out[execResource] = anyNumber
	}
	return out, nil
}

// maxKinds bounds what a worker handles: each kind is a resource of the cluster.
const maxKinds = 100
