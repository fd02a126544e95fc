package sched

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

// Config is what an administrator decides.
type Config struct {
	Root share.Pool // the tree; Root.Policy must be set
	// NewPolicy makes the policies that the tree names; it returns nil for unknown ones.
	NewPolicy  func(name string, o share.Options) Policy
	Priorities []Priority // highest first; a job's priority is an index
	Placement  Placement
	// Depth bounds how many jobs a step looks at behind the first that finds no room, under
	// [EASY], and how many have room kept for them, under [Conservative]; 0 is no bound.
	Depth int
	// Window is how far ahead room is kept, under [EASY] and [Conservative]; 0 is no bound.
	Window   time.Duration
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
// among the priorities that wait in it.
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
	// there will be some by the time limits of what runs, and goes on with jobs that do not
	// delay it by theirs.
	EASY
	// Conservative keeps room for every job that waits, and lets none be delayed.
	Conservative
)

func (p Placement) String() string {
	return [...]string{"first-fit", "fcfs", "easy", "conservative"}[p]
}

// DefaultPriorities are those of Hadoop's fair scheduler (HADOOP-3746).
func DefaultPriorities() []Priority {
	return []Priority{{"very_high", 4}, {"high", 2}, {"normal", 1}, {"low", 0.5}, {"very_low", 0.25}}
}

// Scheduler is the state of a scheduler; see the package comment.
type Scheduler struct {
	cfg     Config
	clock   usage.Clock
	at      time.Time // of the last event
	now     usage.Now // the same in the clock's units
	rng     rand.PCG
	cluster *cluster.Cluster

	began    time.Time         // when the scheduler was made
	queued   map[int32]inQueue // by pool
	capacity float64           // units that the cluster has

	daysBegan bool // see DaysKept

	mains mains
	owes  bool // some pool counts deficits
	holds bool // some pool compares what its children hold

	prices   prices
	totals   []float64 // what there is of each resource
	totalled uint32    // changes with these
	// allots is set when some pool has a policy that allots.
	allots bool

	instant       Setting   // what settings of this instant have in common
	events        uint64    // that were not starts of a step
	looked        uint64    // events when the last step ended
	oneByOne      bool      // room comes slot by slot: this is a preview
	rebalancers   []int32   // pools whose allotter stops tasks
	nextRebalance time.Time // at which one of them might; zero if none

	pools   []Pool
	places  places
	labels  []label
	inners  []inner
	limited []limit
	apart   bool // some minimum is of another resource than the unit
	index   map[childKey]int32
	lent    bool // labels and index are read by copies, see ownNames

	queues  []queue
	begun   []begun
	begunOf map[int64]int32
	later   later

	boosts   boosting
	pauses   pausing
	ripening ripening
	applying bool // pools are made because the configuration names them
	renewal  renewal
	ranks    *ranking // nil where no pool has a [Ranker]
	traits   []Traits // by class, from 1
	classOf  map[Traits]Class

	runs               []run
	runFree, begunFree freeList

	shapeReady shapeCounts // lines with work that no gate holds back
	noRoom     shapeLines  // lines that wait for room on some node

	backfill  backfilling
	windowing windowing
	hosts     []cluster.NodeID // that were found for a gang
	single    []cluster.NodeID // see alone

	stops       stopping
	lingering   map[int64]lingering // by job
	reclaimer   reclaimer
	tolls       []*toll // by shape; nil for most
	licenses    []license
	rates       []rate
	licenseOf   map[string]int32
	rateOf      map[string]int32
	parkedRates int // lines

	steps uint64
	epoch uint32 // of the chunks of jobs that may be changed in place

	deferred   bool // the orders are not kept up: rebuild follows
	rebuilding bool
	keeping    gate // not noGate: pools that come in keep their place, as this held them back
}

// New returns a scheduler without nodes and jobs. The same events and seed lead to
// the same decisions.
func New(cfg Config, at time.Time, seed uint64) (*Scheduler, error) {
	if cfg.Unit == "" {
		cfg.Unit = "cpu"
	}
	s := &Scheduler{
		rng:     *rand.NewPCG(seed, 0x9e3779b97f4a7c15),
		cluster: cluster.New(cfg.Unit),
		index:   map[childKey]int32{},
		begunOf: map[int64]int32{},
		classOf: map[Traits]Class{},
		at:      at,
		began:   at,
		clock:   usage.NewClock(at, cfg.HalfLife),

		licenseOf: map[string]int32{},
		rateOf:    map[string]int32{},
	}
	s.now = s.clock.At(at)
	s.setClock()
	s.newPool(-1, "", named)
	s.pools[Root].inner = 0
	s.inners = append(s.inners, newInner(int32(Root)))
	return s, s.Configure(cfg, at)
}

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
			return fmt.Errorf("sched: licence %s: the number must be 0 or more, got %d", name, n)
		}
	}
	for name, r := range cfg.Rates {
		if err := r.check(); err != nil {
			return fmt.Errorf("sched: rate %s: %w", name, err)
		}
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

// advance moves the scheduler's time to t, which never goes back. What changes at an
// instant of its own on the way changes as of that instant, however late it is noticed.
func (s *Scheduler) advance(t time.Time) {
	for next := s.nextChange(); !next.IsZero() && !next.After(t); next = s.nextChange() {
		s.moveTo(next)
		s.endBoosts()
		s.endPauses()
		s.ripen()
		s.passWindows()
	}
	s.moveTo(t)
}

// moveTo moves the time to t, and lets the jobs in whose begin time has come.
func (s *Scheduler) moveTo(t time.Time) {
	if !t.After(s.at) {
		return
	}
	s.at, s.now = t, s.clock.At(t)
	s.setInstant()
	if s.now.Growth > 1<<20 || s.now.Tau > 1e8 {
		s.reclock(s.clock.HalfLife())
		s.rebuild()
	}
	s.renew()
	s.age()
	s.openRates()
	s.endLingering()
	for {
		j, due := s.later.due(t)
		if !due {
			return
		}
		s.add(j)
	}
}

// reclock expresses all amounts as of now.
func (s *Scheduler) reclock(halfLife time.Duration) {
	next, amount, instant := s.clock.Rebase(s.at, halfLife)
	for i := range s.pools {
		p := &s.pools[i]
		p.Account.Rebase(amount, instant)
		for k := range p.Own {
			p.Own[k] = amount(p.Own[k])
		}
	}
	for i := range s.inners {
		s.inners[i].clock = amount(s.inners[i].clock)
	}
	for i := range s.runs {
		s.runs[i].start = instant(s.runs[i].start)
	}
	s.clock, s.now = next, next.At(s.at)
	s.setClock()
}

// random is a number from 0 up to but not 1.
func (s *Scheduler) random() float64 { return float64(s.rng.Uint64()>>11) / (1 << 53) }
