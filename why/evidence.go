package why

import "time"

// Evidence has the numbers that are needed to recompute an answer: the state of every pool in which
// something waits. From it, package replay derives all keys and the order of
// the next starts without the scheduler.
type Evidence struct {
	// Tau is the service that one slot, busy since the reference of the units, has
	// received; see the definitions in docs/explanation/why.md.
	Tau    float64        `json:"tau"`
	Now    time.Duration  `json:"now"` // on the clock of [JobEvidence.Turn]
	Growth float64        `json:"growth"`
	Pools  []PoolEvidence `json:"pools"`
	// Capacity is what the cluster has, in units; Seconds is for how long it was there, and
	// MeanLife the seconds that a slot-second counts for in all, where usage decays.
	Capacity float64 `json:"capacity"`
	Seconds  float64 `json:"seconds"`
	MeanLife float64 `json:"mean_life_seconds,omitempty"`
	// Resources are the resources that requests and limits count beside the unit, and Totals the
	// amount of each, if pools are compared by their holdings.
	Resources []string  `json:"resources,omitempty"`
	Totals    []float64 `json:"totals,omitempty"`
	// Licenses are how many are free of each licence that something waiting asks for, and Rates
	// how many tasks may start under each rate.
	Licenses map[string]int64    `json:"licenses,omitempty"`
	Rates    map[string]RateLeft `json:"rates,omitempty"`
	// Complete is false when something that decides is not listed, which Missing names: the
	// order is then not recomputed.
	Complete bool   `json:"complete"`
	Missing  string `json:"missing,omitempty"`
}

// Lacks notes that the evidence is not complete, and why.
func (e *Evidence) Lacks(what string) {
	if e.Complete {
		e.Complete, e.Missing = false, what
	}
}

// RateLeft is how many tasks may start under a rate now, and after a pause. A gang needs as many
// starts as it has tasks, but no more than there can be.
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
	Policy  string  `json:"policy,omitempty"` // divides it among its children
	Formula string  `json:"formula,omitempty"`
	Order   string  `json:"order,omitempty"`
	Clock   float64 `json:"clock"`
	Weights float64 `json:"weights,omitempty"` // sum over the children that count
	Loaned  float64 `json:"loaned,omitempty"`  // slots that children that are not listed have above their targets
	Merges  bool    `json:"merges,omitempty"`  // children that tie go in the order of theirs
	ByDays  bool    `json:"by_days,omitempty"` // it counts what its children received by days
	Turns   float64 `json:"turns,omitempty"`   // largest turn of a child that started

	Weight  float64    `json:"weight"`
	Settled float64    `json:"settled"` // service of tasks that ended
	Running float64    `json:"running"` // width of the running tasks
	Rate    float64    `json:"rate"`    // what these are charged each second
	Started float64    `json:"started"` // sum of rate x tau at their starts
	Flight  float64    `json:"flight"`  // sum of rate x mean length in their leaf
	Own     [2]float64 `json:"own"`     // of the policy above: joined, and service then
	Mean    float64    `json:"mean_seconds"`

	// Of the policy above, where it reads them: slots that the pool is entitled to, what it
	// received by days, and what it is owed in each resource.
	Target  float64   `json:"target,omitempty"`
	Days    *DaysUsed `json:"days,omitempty"`
	Owed    []Owed    `json:"owed,omitempty"`
	Divides bool      `json:"divides,omitempty"` // it has pools below it
	// Priority is that of its jobs, for a pool that holds those of one priority.
	Priority int `json:"priority,omitempty"`
	// Holds is what its running tasks have of each resource, and Turn decides where it holds
	// the same part as others.
	Holds []int64 `json:"holds,omitempty"`
	Turn  float64 `json:"turn,omitempty"`

	TasksLeft int64 `json:"tasks_left"` // until max_running; -1 is no limit
	UnitsLeft int64 `json:"units_left"` // until max of the unit; -1 is no limit
	MinLeft   int64 `json:"min_left"`   // units below its minimum, if above 0
	// MaxLeft and MinLack are the same of other resources, in the order of [Evidence.Resources].
	MaxLeft []int64 `json:"max_left,omitempty"`
	MinLack []int64 `json:"min_lack,omitempty"`
	GangMax int64   `json:"gang_max,omitempty"` // tasks of one job at once; 0 is no limit

	Strict bool          `json:"strict,omitempty"` // serves in order of arrival only
	Ranked bool          `json:"ranked,omitempty"` // serves by the priority of each job
	Jobs   []JobEvidence `json:"jobs,omitempty"`   // of a leaf, by id
}

// DaysUsed is the service of a pool by days, in slot-seconds: the sum that all days before today
// count, and today up to some seconds ago, and the number of slots that run since then.
type DaysUsed struct {
	Past    float64 `json:"past"`
	Today   float64 `json:"today"`
	Slots   float64 `json:"slots"`
	Seconds float64 `json:"seconds"`
}

// Owed is what a pool received and what an ideal scheduler would have given it, of one
// resource, and how much of it there is. Fixed is what orders it among those of the same
// drift, see [Terms.Fixed].
type Owed struct {
	Received float64 `json:"received"`
	Ideal    float64 `json:"ideal"`
	Capacity float64 `json:"capacity"`
	Fixed    float64 `json:"fixed"`
	Drift    float64 `json:"drift"`
}

// JobEvidence is one job with tasks that wait.
type JobEvidence struct {
	ID       int64   `json:"id"`
	Waiting  int64   `json:"waiting"`
	Running  int64   `json:"running"`
	Max      int64   `json:"most"` // tasks at once; 0 is no limit
	Width    int64   `json:"width"`
	Gang     int64   `json:"gang,omitempty"` // tasks that start all at once; 0: each for itself
	Rate     float64 `json:"rate"`           // what a task is charged each second
	Priority int     `json:"priority"`
	Main     int     `json:"main,omitempty"` // dominant resource: index into the pool's Owed
	// Request is what each of its tasks asks for of each resource, where pools are compared
	// in what they hold or limits count more than the unit.
	Request  []int64          `json:"request,omitempty"`
	Licenses map[string]int64 `json:"licenses,omitempty"` // that each of its tasks holds
	Rates    []string         `json:"rates,omitempty"`    // under which its starts count

	// Terms are those of the job's own priority, where it has one: under the policy
	// multifactor, in the order of its formula.
	Terms []Number `json:"terms,omitempty"`

	// Line is the same for the jobs of a pool that ask for the same. When the first of them turns
	// out not to be allowed to start, the others are passed over, too.
	Line  int32         `json:"line"`
	Since time.Duration `json:"-"` // its submission, in the units of package sched
	// Turn is when a task of it started or ended last, or its submission if none has: of jobs with as many
	// running tasks the one with the earlier turn goes first. It counts in nanoseconds from an instant of package sched.
	Turn time.Duration `json:"turn"`
}
