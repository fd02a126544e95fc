package why

import "time"

// Evidence is what it takes to recompute an answer: the state of every pool in which
// something waits, as numbers. From it, [Verify] derives all keys and the order of
// the next starts without the scheduler.
type Evidence struct {
	// Tau is the service that one slot, busy since the reference of the units, has
	// received; see the definitions in docs/explanation/why.md.
	Tau    float64        `json:"tau"`
	Growth float64        `json:"growth"`
	Pools  []PoolEvidence `json:"pools"`
	// Complete is false when more jobs wait than are listed: the order is then not
	// recomputed.
	Complete bool `json:"complete"`
}

// PoolEvidence is the state of one pool. Amounts are in slot-seconds as of the
// reference.
type PoolEvidence struct {
	Number  int32   `json:"number"`
	Parent  int32   `json:"parent"` // -1 for the root
	Name    string  `json:"name"`
	Path    string  `json:"path"`
	Policy  string  `json:"policy,omitempty"` // by which it divides among its children
	Formula string  `json:"formula,omitempty"`
	Clock   float64 `json:"clock"`

	Weight  float64    `json:"weight"`
	Settled float64    `json:"settled"` // service of tasks that ended
	Running float64    `json:"running"` // width of the running tasks
	Started float64    `json:"started"` // sum of width x tau at their starts
	Flight  float64    `json:"flight"`  // sum of width x mean length in their leaf
	Own     [2]float64 `json:"own"`     // of the policy above: joined, and service then
	Mean    float64    `json:"mean_seconds"`

	TasksLeft int64 `json:"tasks_left"` // until max_running; -1 is no limit
	UnitsLeft int64 `json:"units_left"` // until max of the unit; -1 is no limit
	MinLeft   int64 `json:"min_left"`   // units below its minimum, if above 0

	Strict bool          `json:"strict,omitempty"` // serves in order of arrival only
	Ranked bool          `json:"ranked,omitempty"` // serves by the priority of each job
	Jobs   []JobEvidence `json:"jobs,omitempty"`   // of a leaf, by id
}

// JobEvidence is one job with tasks that wait.
type JobEvidence struct {
	ID       int64 `json:"id"`
	Waiting  int64 `json:"waiting"`
	Running  int64 `json:"running"`
	Most     int64 `json:"most"` // tasks at once; 0 is no limit
	Width    int64 `json:"width"`
	Priority int   `json:"priority"`

	// Terms are those of the job's own priority, where it has one: under the policy
	// multifactor, in the order of its formula.
	Terms []Number `json:"terms,omitempty"`

	Line  int32         `json:"-"` // in which it waits
	Since time.Duration `json:"-"` // its submission, in the units of package sched
}
