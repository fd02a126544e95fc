package why

import "time"

// Evidence has the numbers that are needed to recompute an answer: the state of every pool with waiting jobs.
// From it, package replay derives all keys and the order of the next starts without the scheduler.
type Evidence struct {
	// Tau is the service of one slot that has been busy since the reference of the units; see the definitions
	// in docs/explanation/why.md.
	Tau    float64        `json:"tau"`
	Now    time.Duration  `json:"now"` // on the clock of [JobEvidence.Turn]
	Growth float64        `json:"growth"`
	Pools  []PoolEvidence `json:"pools"`
	// Capacity is the capacity of the cluster, in units, and Seconds the time since the scheduler was
	// created. If usage decays, MeanLife is the total number of seconds for which a slot-second counts.
	Capacity float64 `json:"capacity"`
	Seconds  float64 `json:"seconds"`
	MeanLife float64 `json:"mean_life_seconds,omitempty"`
	// Resources are the resources beside the unit that requests and limits count. Totals is the amount of
	// each in the cluster, if pools are compared by their holdings.
	Resources []string  `json:"resources,omitempty"`
	Totals    []float64 `json:"totals,omitempty"`
	// Licenses is how many of each requested license are free, and Rates how many tasks may start under each
	// rate.
	Licenses map[string]int64    `json:"licenses,omitempty"`
	Rates    map[string]RateLeft `json:"rates,omitempty"`
	// Complete is false if the evidence omits a number that decides. Missing names that number; nobody can
	// recompute the order then.
	Complete bool   `json:"complete"`
	Missing  string `json:"missing,omitempty"`
}

// Lacks marks the evidence as incomplete, and names the first missing number.
func (e *Evidence) Lacks(what string) {
	if e.Complete {
		e.Complete, e.Missing = false, what
	}
}

// RateLeft is how many tasks may start under a rate now, and after a pause. A gang needs one start per task,
// but never more than Burst.
type RateLeft struct {
	Left  int64 `json:"left"`
	Burst int64 `json:"burst"`
}

// PoolEvidence is the state of one pool. Amounts are in slot-seconds as of the
// reference.
type PoolEvidence struct {
	Number  int32   `json:"number"`
	Parent  int32   `json:"parent"` // -1 for the root
	Name    string  `json:"name"`
	Path    string  `json:"path"`
	Policy  string  `json:"policy,omitempty"` // of its children
	Formula string  `json:"formula,omitempty"`
	Order   string  `json:"order,omitempty"`
	Clock   float64 `json:"clock"`
	Weights float64 `json:"weights,omitempty"` // sum over the children that count for shares
	Loaned  float64 `json:"loaned,omitempty"`  // slots that unlisted children have above their targets
	Merges  bool    `json:"merges,omitempty"`  // the children of tied children are ordered together
	ByDays  bool    `json:"by_days,omitempty"` // it counts the usage of its children by days
	Turns   float64 `json:"turns,omitempty"`   // largest turn of a child whose task started

	Weight  float64    `json:"weight"`
	Settled float64    `json:"settled"` // service of tasks that ended
	Running float64    `json:"running"` // width of the running tasks
	Rate    float64    `json:"rate"`    // total charge of the running tasks per second
	Started float64    `json:"started"` // sum of rate x tau at their starts
	Flight  float64    `json:"flight"`  // sum of rate x mean length in their leaf
	Own     [2]float64 `json:"own"`     // of the parent's policy: joined, and the service at that time
	Mean    float64    `json:"mean_seconds"`

	// Numbers for the parent's policy, if the policy reads them: the slots that the pool is entitled to, its
	// service by days, and its deficit in each resource.
	Target  float64   `json:"target,omitempty"`
	Days    *DaysUsed `json:"days,omitempty"`
	Owed    []Owed    `json:"owed,omitempty"`
	Divides bool      `json:"divides,omitempty"` // it has child pools
	// Priority is the priority of all its jobs, for a priority class of a leaf pool.
	Priority int `json:"priority,omitempty"`
	// Holds is the amount of each resource that its running tasks have. Turn decides between pools that hold
	// equal parts.
	Holds []int64 `json:"holds,omitempty"`
	Turn  float64 `json:"turn,omitempty"`

	TasksLeft int64 `json:"tasks_left"` // until max_running; -1 is no limit
	UnitsLeft int64 `json:"units_left"` // until max of the unit; -1 is no limit
	MinLeft   int64 `json:"min_left"`   // units below its minimum, if above 0
	// MaxLeft and MinLack are for the other resources, in the order of [Evidence.Resources].
	MaxLeft []int64 `json:"max_left,omitempty"`
	MinLack []int64 `json:"min_lack,omitempty"`
	GangMax int64   `json:"gang_max,omitempty"` // tasks that one job may run at once; 0 is no limit

	Strict bool          `json:"strict,omitempty"` // serves its jobs strictly in order of arrival
	Ranked bool          `json:"ranked,omitempty"` // serves its jobs by their priorities
	Jobs   []JobEvidence `json:"jobs,omitempty"`   // of a leaf, by id
}

// DaysUsed is the service of a pool by days, in slot-seconds. It has the weighted sum of the days before
// today, the service of today up to Seconds ago, and the number of slots running since then.
type DaysUsed struct {
	Past    float64 `json:"past"`
	Today   float64 `json:"today"`
	Slots   float64 `json:"slots"`
	Seconds float64 `json:"seconds"`
}

// Owed compares the service that a pool received in one resource with the service that an ideal scheduler
// would have given it; Capacity is the amount in the cluster. Fixed orders pools with equal Drift, see
// [Terms.Fixed].
type Owed struct {
	Received float64 `json:"received"`
	Ideal    float64 `json:"ideal"`
	Capacity float64 `json:"capacity"`
	Fixed    float64 `json:"fixed"`
	Drift    float64 `json:"drift"`
}

// JobEvidence is one job with waiting tasks.
type JobEvidence struct {
	ID       int64   `json:"id"`
	Waiting  int64   `json:"waiting"`
	Running  int64   `json:"running"`
	Max      int64   `json:"most"` // tasks at once; 0 is no limit
	Width    int64   `json:"width"`
	Gang     int64   `json:"gang,omitempty"` // tasks that start at the same moment; 0: each by itself
	Rate     float64 `json:"rate"`           // charge of one task per second
	Priority int     `json:"priority"`
	Main     int     `json:"main,omitempty"` // dominant resource: index into the pool's Owed
	// Request is the amount of each resource that one task asks for. It is set if pools are compared by their
	// holdings, or if limits count more than the unit.
	Request  []int64          `json:"request,omitempty"`
	Licenses map[string]int64 `json:"licenses,omitempty"` // each of its tasks holds them
	Rates    []string         `json:"rates,omitempty"`    // its starts count under them

	// Terms are the terms of the priority of the job under the policy multifactor, in the order of its
	// formula.
	Terms []Number `json:"terms,omitempty"`

	// SubQueue is equal for all jobs of a pool with equal requests. If the first of them may not start, the
	// others are skipped.
	SubQueue int32         `json:"sub_queue"`
	Since    time.Duration `json:"-"` // its submission, in the units of package sched
	// Turn is when a task of the job last started or ended, or its submission time, in nanoseconds since an
	// instant of package sched. Of jobs with equally many running tasks the one with the earlier turn goes
	// first.
	Turn time.Duration `json:"turn"`
}
