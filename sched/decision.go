package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// Decision is what a step says to do. It can be used again for the next step, which
// then allocates nothing.
type Decision struct {
	Starts []Start
	// Stops are tasks that are to end early. Their room is free when they have ended.
	Stops []Stop
	// More is set when the step stopped at its limits although more could start: the
	// caller is to carry out this decision and step again.
	More bool
	// Next is the instant at which time alone could change the answer; zero if none.
	Next time.Time

	levels []Level
}

// Start is one task to start.
type Start struct {
	Run  RunID // to be given back to Finish or Abort
	Job  int64
	Pool PoolID // the leaf that is charged
	Node cluster.NodeID
	// Ahead is the job for which room was kept, and before which this one starts because it
	// does not need that room; 0 if there is none.
	Ahead int64

	from, to int32
}

// Level is the choice that was made at one pool on the way down.
type Level struct {
	Pool       PoolID // that divided
	Child      PoolID // that was chosen
	Rival      PoolID // the closest behind it that was looked at; 0 if there is none
	Open       int32  // children with work that might start
	BelowMin   bool   // chosen among the children below their minimum
	Terms      why.Terms
	RivalTerms why.Terms

	byKey bool // the rival is the next by key, and is looked for when a task starts
}

// Stop is one running task that is to be ended early so that others get its room. It
// runs, and is counted, until the caller says that it ended: by Finish, after which its
// job's task is added again, or by Spare if it was not stopped after all.
type Stop struct {
	Run  RunID
	Job  int64
	Pool PoolID // the leaf that it runs in
	Node cluster.NodeID

	stopReason

	Together int           // tasks that are stopped for the same room
	Width    float64       // units that it frees
	Elapsed  time.Duration // that it ran
	Lost     float64       // slot-seconds that it received, and that are lost: the price
	Safe     time.Time     // its job is not stopped again before
}

// stopReason names the rule that stopped a task, and holds the numbers that it compared.
type stopReason struct {
	Rule StopRule
	// For is the pool that gets the room, and Goal the least that it should have by
	// the rule: its minimum or its fair part. Resource is what they are counted in, the
	// unit of shares if it is 0.
	For      PoolID
	Running  float64
	Goal     float64
	Resource int
	Since    time.Time // from when on it was seen below
	Owed     float64   // what it lacked meanwhile, in slot-seconds
	Next     int64     // job that is to start in the room; 0: not known
	Choice   string    // in words: why this task and not another
	// From is the pool that gives the room: the one that stands beside For, or beside
	// a pool above it. It has FromRunning units, and its fair part is FromGoal.
	From        PoolID
	FromRunning float64
	FromGoal    float64
}

// StopRule says why tasks are stopped.
type StopRule string

// The rules.
const (
	StopMin       StopRule = "min-share"  // a pool was below its minimum for too long
	StopShare     StopRule = "fair-share" // a pool was far below its fair part for too long
	StopRebalance StopRule = "rebalance"  // the policy load found its children too far apart
)

// Why returns the choices that led to a start, from the root down. They are valid
// until the decision is used again.
func (d *Decision) Why(s Start) []Level { return d.levels[s.from:s.to] }

func (d *Decision) reset() {
	*d = Decision{Starts: d.Starts[:0], Stops: d.Stops[:0], levels: d.levels[:0]}
}
