package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// Decision is the answer of a step. The next step can reuse it, and then allocates nothing.
type Decision struct {
	Starts []Start
	// Stops are tasks to end early. Their room is free once they have ended.
	Stops []Stop
	// More means that the step stopped at its limits although more tasks could start: the caller should carry out
	// this decision and step again.
	More bool
	// Next is the instant at which time alone could change the answer; zero if none.
	Next time.Time

	levels []Level
}

// Start is one task to start.
type Start struct {
	Run  RunID // pass it to Finish or Abort
	Job  int64
	Pool PoolID // the leaf pool that is charged
	Node cluster.NodeID
	// Ahead is a job with kept room that this start overtakes, because it does not need that room; 0 if there is
	// none.
	Ahead int64

	from, to int32
}

// Level is the choice in one pool on the path down.
type Level struct {
	Pool       PoolID // the pool that divides
	Child      PoolID // the chosen child
	Rival      PoolID // the closest child behind it; 0 if there is none
	Open       int32  // children with work that might start
	BelowMin   bool   // chosen among children below their minimum
	Terms      why.Terms
	RivalTerms why.Terms

	byKey  bool // the rival is the next by key; it is searched for when a task starts
	byPlan bool // the child was planned to be next; its terms are computed when a task starts
}

// Stop is one running task to end early so that others get its room. It runs, and counts, until the caller reports
// its end by Finish, and then adds the job's task again. If the task was not stopped after all, the caller reports
// that by Spare.
type Stop struct {
	Run  RunID
	Job  int64
	Pool PoolID // its leaf pool
	Node cluster.NodeID

	stopReason

	Together int           // number of tasks stopped for the same room
	Width    float64       // units that it frees
	Elapsed  time.Duration // how long it ran
	Lost     float64       // the price: its slot-seconds, which are lost
	Safe     time.Time     // its job is not stopped again before this instant
}

// stopReason names the rule that stopped a task, and holds the numbers that it compared.
type stopReason struct {
	Rule StopRule
	// For is the pool that gets the room, and Goal the least that the rule grants it: its minimum or its entitlement.
	// Resource is the resource of these numbers; 0 is the unit of shares.
	For      PoolID
	Running  float64
	Goal     float64
	Resource int
	Since    time.Time // when it was first seen below Goal
	Owed     float64   // the service that it has lacked since then, in slot-seconds
	Next     int64     // job that will start in the room; 0: unknown
	Choice   string    // why this task and not another, in words
	// From is the pool that gives the room: a sibling of For, or of a pool above it. It runs FromRunning units, and
	// its entitlement is FromGoal.
	From        PoolID
	FromRunning float64
	FromGoal    float64
}

// StopRule is the rule that stops a task.
type StopRule string

// The rules.
const (
	StopMin       StopRule = "min-share"  // a pool was below its minimum for too long
	StopShare     StopRule = "fair-share" // a pool was far below its entitlement for too long
	StopRebalance StopRule = "rebalance"  // the policy load found its children too far apart
)

// Why returns the choices that led to a start, from the root down. They are valid until the decision is reused.
func (d *Decision) Why(s Start) []Level { return d.levels[s.from:s.to] }

func (d *Decision) reset() {
	*d = Decision{Starts: d.Starts[:0], Stops: d.Stops[:0], levels: d.levels[:0]}
}
