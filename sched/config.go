package sched

import (
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/share"
)

// Config holds the decisions of an administrator.
type Config struct {
	Root share.Pool // the tree; Root.Policy must be set
	// NewPolicy returns the policy of a name in the tree, or nil if the name is unknown.
	NewPolicy  func(name string, o share.Options) Policy
	Priorities []Priority // highest first; a job's priority is an index
	// PriorityWeights divides a leaf pool among its waiting priorities by their weights. Otherwise the highest goes
	// first.
	PriorityWeights bool
	Backfill        Backfill
	// Depth bounds the jobs that a step searches: under [EASY] the jobs behind the first that finds no room, under
	// [Conservative] the jobs with kept room. 0 is no limit.
	Depth int
	// Window is how far ahead room is kept, under [EASY] and [Conservative]; 0 is no limit.
	Window time.Duration
	// Patience is how long a job may wait after room was first kept for it, before nodes are held for it. It
	// applies under [EASY] and, unless jobs go in order of arrival, under [Conservative]. If it is 0, the wait is
	// bounded by the run time, past or expected, of the longest task that ran when room was first kept.
	Patience time.Duration
	NewJobs  NewJobs       // a boost of new jobs
	HalfLife time.Duration // of decayed service; 0 is no decay
	// TaskSeconds is the expected run time of a task before any task has ended.
	TaskSeconds float64
	Unit        string // resource in which shares are counted; fixed by New
	Charge      Charge // of tasks that start from now on
	Reclaim     Reclaim
	// Licenses are the numbers of licenses that tasks may hold beside a node; Rates are limits on starts.
	Licenses map[string]int64
	// UserRunning is the largest number of tasks of one user that run at once, among requests that name their user; 0
	// is no limit.
	UserRunning int
	Rates       map[string]Rate
	Multifactor Multifactor
}

// Priority is one priority within a leaf pool. Under [Config.PriorityWeights], its weight divides the leaf pool
// among the waiting priorities.
type Priority struct {
	Name   string
	Weight float64
}

// Backfill says how to continue if the job that goes first fits on no node.
type Backfill uint8

const (
	// FirstFit continues with the next job that fits. First refers to jobs, not to nodes.
	FirstFit Backfill = iota
	// FCFS starts no other job until it fits.
	FCFS
	// EASY keeps room for the first job that finds none, at the earliest instant at which the time limits of running
	// tasks promise room. It continues with jobs whose own time limits show that they do not delay the first.
	EASY
	// Conservative keeps room for every waiting job: a job may delay only the jobs behind it in the order and, in
	// order of arrival, only jobs that came later.
	Conservative
)

// Charge sets the charge of a running task per second, which counts as usage. The zero value charges the task's
// units.
//
// The totals, and so the value of a resource, may change while tasks run. A task is charged at one rate from start to
// end, the rate at its start. So a node that joins does not change the past. The charge of a running task, the charge
// that a store records at the task's end, and the charge after a restart are the same number.
type Charge struct {
	// Per is the charge for one of each resource; other resources cost nothing. The unit is among them, because
	// every task takes some of it.
	Per map[string]float64
	// Largest counts only the largest part, instead of the sum.
	Largest bool
	// Dominant charges the largest fraction that a task takes of any resource of the nodes that take tasks, times the
	// units of these nodes. So a task that takes all of one resource costs as much as the whole cluster. Per is then
	// ignored.
	Dominant bool
}

// Multifactor has the weights of the policy multifactor. Each weight is the most that its factor, from 0 to 1, adds
// to a priority.
type Multifactor struct {
	Age, Fairshare, Size, Pool, QOS, Assoc, Site float64
	TRES                                         map[string]float64 // by resource

	MaxAge         time.Duration // age at which the age factor reaches 1
	Small          bool          // favor small jobs instead of large ones
	RelativeToTime bool          // divide the size by the time limit
	Recalculate    time.Duration // interval at which shares and usage of all pools are recomputed
	Levels         map[string]float64
}

// MaxFactorWeight is the largest weight, and MaxNice the largest absolute nice value, so that priorities stay
// exact.
const (
	MaxFactorWeight = 1e7
	MaxNice         = 10000
	maxTerm         = 1e8
)

// NewJobs sets how much more new jobs count than other jobs of their pool. For some time after their submission they
// are in a separate priority class. The weight of this class is the weight of their priority times the factor.
type NewJobs struct {
	Factor float64
	For    time.Duration // 0: off
}

// Reclaim says which tasks are stopped for pools that get less than their minimum or entitlement; the pools say when,
// see [share.Reclaim].
//
// A pool starves under two conditions. Some of its waiting tasks would fit on some node, and only the lack of room
// holds them back. And the pool has less than its minimum of the requested resources, or less than the fraction Below
// of its entitlement. The entitlement is the part that the ideal fluid scheduler would give the pool at this moment.
// When it has starved for longer than its timeout, tasks are stopped so that it reaches the minimum or the entitlement,
// never more, under these rules:
//
//   - A pool that gives room is a sibling of the starving pool or of a pool above it, and keeps its entitlement and
//     its minimum. The pools below it keep theirs as well, if the tasks that can be stopped permit it; otherwise they
//     keep the whole units of their parts. If a pool has protected tasks that hold more room than the part of the pool,
//     the surplus is not available to the other pools. Their fair parts here are parts of the rest.
//   - A job is stopped at most once in a grace period; a gang as a whole or not at all.
//   - Each stop is needed: without it the waiting task would not fit.
//   - The core itself is asked which task would start in the room. If it is not a task of the starving pool,
//     because the order of the policies puts others first, no task is stopped.
//
// After stops for a pool, or if its turn has not come, its timeout begins anew.
type Reclaim struct {
	Grace  time.Duration // no job is stopped twice within this time
	Choose Choose
}

// Choose says which tasks are stopped first.
type Choose uint8

func (c Choose) String() string { return [...]string{"newest", "cheapest"}[c] }

const (
	// Newest stops the tasks that started last.
	Newest Choose = iota
	// Cheapest stops the tasks that lose the fewest slot-seconds.
	Cheapest
)

// IsZero reports whether tasks are charged their units.
func (c Charge) IsZero() bool { return len(c.Per) == 0 && !c.Dominant }

// DefaultPriorities are those of Hadoop's fair scheduler (HADOOP-3746).
func DefaultPriorities() []Priority {
	return []Priority{{"very_high", 4}, {"high", 2}, {"normal", 1}, {"low", 0.5}, {"very_low", 0.25}}
}

// DefaultUnit is the share resource of a [Config] that sets none.
const DefaultUnit = "cpu"

func (cfg *Config) check() error {
	if cfg.Root.Policy == "" {
		return fmt.Errorf("sched: the root names no policy")
	}
	for path, p := range cfg.Root.All() {
		if err := p.Check(); err != nil {
			return fmt.Errorf("sched: pool %s: %w", path, err)
		}
		if p.Weight == 0 && !cfg.zeroBelow(path) {
			return fmt.Errorf("sched: pool %s: the policy above it cannot divide by the weight 0", path)
		}
		if p.Policy != "" && cfg.NewPolicy(p.Policy, p.Options) == nil {
			return fmt.Errorf("sched: pool %s: unknown policy %q", path, p.Policy)
		}
	}
	if cfg.NewPolicy(cfg.Root.Policy, cfg.Root.Options) == nil {
		return fmt.Errorf("sched: unknown policy %q", cfg.Root.Policy)
	}
	for name, n := range cfg.Licenses {
		if n < 0 {
			return fmt.Errorf("sched: license %s: the number must be 0 or more, got %d", name, n)
		}
	}
	for name, r := range cfg.Rates {
		if err := r.check(); err != nil {
			return fmt.Errorf("sched: rate %s: %w", name, err)
		}
	}
	if cfg.NewJobs.For > 0 && !cfg.PriorityWeights {
		return errors.New("sched: NewJobs multiplies the weights of priorities, so it needs PriorityWeights")
	}
	if len(cfg.Priorities) == 0 {
		cfg.Priorities = DefaultPriorities()
	}
	if cfg.Multifactor.MaxAge <= 0 || cfg.Multifactor.Recalculate <= 0 {
		cfg.Multifactor = DefaultMultifactor()
	}
	if cfg.TaskSeconds <= 0 {
		cfg.TaskSeconds = 60
	}
	return nil
}

// zeroBelow reports whether the policy that divides among a pool and its siblings supports the weight 0.
func (cfg *Config) zeroBelow(path string) bool {
	for path != "" {
		path, _ = share.Cut(path)
		if p := cfg.Root.Find(path); p != nil && p.Policy != "" {
			_, zero := cfg.NewPolicy(p.Policy, p.Options).(Zeroer)
			return zero
		}
	}
	return false
}

// DefaultMultifactor applies if none is configured.
func DefaultMultifactor() Multifactor {
	return Multifactor{
		Age: 1000, Fairshare: 10000, Size: 1000, Pool: 1000, QOS: 1000, Assoc: 1000, Site: 1,
		MaxAge: 7 * 24 * time.Hour, Recalculate: 5 * time.Minute,
	}
}

func isRanker(cfg *Config, p *share.Pool) bool {
	_, yes := cfg.NewPolicy(p.Policy, p.Options).(Ranker)
	return yes
}
