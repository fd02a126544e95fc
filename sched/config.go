package sched

import (
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/share"
)

// Config is what an administrator decides.
type Config struct {
	Root share.Pool // the tree; Root.Policy must be set
	// NewPolicy makes the policies that the tree names; it returns nil for unknown ones.
	NewPolicy  func(name string, o share.Options) Policy
	Priorities []Priority // highest first; a job's priority is an index
	// PriorityWeights lets the priorities that wait in a leaf divide it by their weights.
	// Otherwise the highest goes first.
	PriorityWeights bool
	Placement       Placement
	// Depth bounds how many jobs a step looks at behind the first that finds no room, under
	// [EASY], and how many have room kept for them, under [Conservative]; 0 is no bound.
	Depth int
	// Window is how far ahead room is kept, under [EASY] and [Conservative]; 0 is no bound.
	Window time.Duration
	// Patience is for how long a job may wait, under [EASY] and, unless jobs go in order of arrival,
	// [Conservative], from when room was first kept for it:
	// then nodes are held for it. 0 is as long as the longest task that ran then had run, or was
	// expected to run.
	Patience time.Duration
	NewJobs  NewJobs       // a boost of jobs that came lately
	HalfLife time.Duration // of decayed service; 0 is no decay
	// TaskSeconds is how long a task is taken to run before any has ended.
	TaskSeconds float64
	Unit        string // resource in which shares are counted; fixed by New
	Charge      Charge // of tasks that start from now on
	Reclaim     Reclaim
	// Licenses are what tasks may hold beside a node, with their numbers; Rates are
	// limits of starts.
	Licenses    map[string]int64
	Rates       map[string]Rate
	Multifactor Multifactor
}

// Priority is one priority within a leaf. Its weight divides what the leaf gets
// among the priorities that wait in it, under [Config.PriorityWeights].
type Priority struct {
	Name   string
	Weight float64
}

// Placement says what happens when the job that goes first fits on no node.
type Placement uint8

const (
	// FirstFit goes on with the next job that fits.
	FirstFit Placement = iota
	// FCFS starts nothing until it fits.
	FCFS
	// EASY keeps room for the first job that finds none, at the earliest instant at which
	// there will be some by the time limits of running tasks, and goes on with jobs that do not
	// delay it by theirs.
	EASY
	// Conservative keeps room for every job that waits: each may delay only those behind it in the
	// order and, where that is the order of arrival, only jobs that came later.
	Conservative
)

// Charge says what a running task is charged each second, which is what counts as usage.
// The zero value charges what it takes of the unit.
//
// What there is, and so what a resource is worth, may change while tasks run. A task is
// charged at one rate from its start to its end, that of its start: a node that joins changes
// nothing of the past, and the charge of a running task, the charge that a store books at its
// end, and the charge known after a restart are the same number.
type Charge struct {
	// Per is the charge for one of each resource; others cost nothing. The unit is one of
	// them, as there is something of it in every task.
	Per map[string]float64
	// Largest has only the largest part count, instead of the sum.
	Largest bool
	// Dominant charges the largest part that a task takes of what the nodes have that take
	// tasks, as a part of what they have of the unit: a task that takes all there is of
	// something costs what the whole machine costs. Per does not count.
	Dominant bool
}

// Multifactor says how the policy multifactor weighs what speaks for a job. Each weight
// is the most that its factor, which is from 0 to 1, adds to a priority.
type Multifactor struct {
	Age, Fairshare, Size, Pool, QOS, Assoc, Site float64
	TRES                                         map[string]float64 // by resource

	MaxAge         time.Duration // from which on a job's age counts in full
	Small          bool          // small jobs are favoured instead of large ones
	RelativeToTime bool          // the size counts in relation to the time limit
	Recalculate    time.Duration // how often shares and usage are computed anew for all
	Levels         map[string]float64
}

// MaxFactorWeight bounds a weight, and MaxNice what a job may be nice or not, so that
// priorities stay exact.
const (
	MaxFactorWeight = 1e7
	MaxNice         = 10000
	maxTerm         = 1e8
)

// NewJobs says by how much jobs that came lately count more than others of their pool:
// for some time after they were submitted they stand in a priority class of their own, with the
// weight of their priority times the factor.
type NewJobs struct {
	Factor float64
	For    time.Duration // 0: they do not
}

// Reclaim says which tasks are stopped for pools that do not get what they should have;
// the pools say when, see [share.Reclaim].
//
// A pool starves when tasks of it wait that would fit on some node, no limit but the lack
// of room holds them back, and it has less than its minimum of what they ask for, or less
// than the fraction Below of its fair part: what the ideal fluid scheduler would give it
// at this moment. When it has starved for longer than its timeout, tasks are stopped so
// that it reaches the minimum or the fair part, never more, under these rules:
//
//   - A pool that gives, beside the starving one or beside a pool above it, keeps its fair
//     part and its minimum. So do the pools below it as far as there are such tasks, else
//     they keep the whole units of their parts. What protected tasks hold above the parts
//     of their pools is missing to the others: their fair parts here are parts of the rest.
//   - A job is stopped at most once in a grace period; a gang as a whole or not at all.
//   - Each stop is needed: without it the task that waits would not fit.
//   - The core itself is asked what would start in the room. Nothing is stopped if that
//     is not a task of the starving pool, as the order of the policies wants others first.
//
// After stops for a pool, or when its turn has not come, its timeout begins anew.
type Reclaim struct {
	Grace  time.Duration // no job is stopped twice within this time
	Choose Choose
}

// Choose says which tasks are stopped first.
type Choose uint8

func (c Choose) String() string { return [...]string{"newest", "cheapest"}[c] }

const (
	// Newest stops the tasks that began last.
	Newest Choose = iota
	// Cheapest stops the tasks with which the fewest slot-seconds are lost.
	Cheapest
)

// IsZero reports whether tasks are charged what they take of the unit.
func (c Charge) IsZero() bool { return len(c.Per) == 0 && !c.Dominant }

func (p Placement) String() string {
	return [...]string{"first-fit", "fcfs", "easy", "conservative"}[p]
}

// DefaultPriorities are those of Hadoop's fair scheduler (HADOOP-3746).
func DefaultPriorities() []Priority {
	return []Priority{{"very_high", 4}, {"high", 2}, {"normal", 1}, {"low", 0.5}, {"very_low", 0.25}}
}

// DefaultUnit is the resource in which shares are counted if a [Config] does not say.
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
		return errors.New("sched: new jobs count more by a weight, and priorities are not weights here")
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

// zeroBelow reports whether the policy that divides among a pool and its siblings takes
// the weight 0.
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

// DefaultMultifactor is in force where nothing is configured.
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
