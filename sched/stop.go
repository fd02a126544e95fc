package sched

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Stop is one running task that is to be ended early so that others get its room. It
// runs, and is counted, until the caller says that it ended: by Finish, after which its
// job's task is added again, or by Spare if it was not stopped after all.
type Stop struct {
	Run  RunID
	Job  int64
	Pool PoolID // the leaf that it runs in
	Node cluster.NodeID

	StopReason

	Together int           // tasks that are stopped for the same room
	Width    float64       // units that it frees
	Elapsed  time.Duration // that it ran
	Lost     float64       // slot-seconds that it received, and that are lost: the price
	Safe     time.Time     // its job is not stopped again before
}

// StopReason is the rule by which a task is stopped, and the numbers that it compared.
type StopReason struct {
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

// stopping is what is known of tasks that are to end early.
type stopping struct {
	safe  map[int64]time.Time // by job: not stopped before
	sweep int                 // size of safe at which what is over is dropped
	grace time.Duration       // for which a job is safe after it was stopped
	// together holds the groups of tasks that make room together, see stopTogether.
	together map[int32]*together
	serial   int32 // of the last group
	left     bool  // to another scheduler, see LeaveStops
}

// together is a group of tasks whose room is given back when the last of them has ended:
// room for one wide task must not be taken bit by bit by narrow ones that go later.
type together struct {
	left int
	held []heldRoom
}

type heldRoom struct {
	node  cluster.NodeID
	shape cluster.Shape
	until int64 // planned end
}

// leaves marks a run: it was told to end.
type leaves struct {
	leaving bool
	group   int32 // of stopping.together; 0 is none
}

// leavingRuns are the tasks that were told to end, with their places.
func (s *Scheduler) leavingRuns() iter.Seq2[int, *run] {
	return func(yield func(int, *run) bool) {
		for i := range s.runs {
			if r := &s.runs[i]; r.used && r.leaving && !yield(i, r) {
				return
			}
		}
	}
}

// stop has a running task stopped. It is not chosen again while it runs, and its job is
// safe for the grace period.
func (s *Scheduler) stop(id RunID, why StopReason, d *Decision) {
	s.stopTogether([]RunID{id}, []StopReason{why}, d)
}

// stopTogether does so with tasks whose room is needed as a whole.
func (s *Scheduler) stopTogether(ids []RunID, why []StopReason, d *Decision) {
	group := int32(0)
	if len(ids) > 1 {
		s.stops.serial++
		group = s.stops.serial
		if s.stops.together == nil {
			s.stops.together = map[int32]*together{}
		}
		s.stops.together[group] = &together{left: len(ids)}
	}
	safe := s.at.Add(s.stops.grace)
	for i, id := range ids {
		r := s.run(id)
		r.leaving, r.group = true, group
		width, elapsed := s.cluster.Width(r.shape), s.at.Sub(s.startOf(r))
		d.Stops = append(d.Stops, Stop{
			Run: id, Job: r.job, Pool: PoolID(r.pool), Node: r.node, StopReason: why[i],
			Together: len(ids), Width: width, Elapsed: elapsed, Lost: width * elapsed.Seconds(), Safe: safe,
		})
		s.Protect(r.job, safe)
	}
}

// stoppable reports whether a task may be stopped now: it began before this step, runs
// where its room is of use, was not told to end, and its job is not safe.
func (s *Scheduler) stoppable(r *run) bool {
	return r.used && !r.leaving && r.started.Before(s.at) && s.cluster.Nodes()[r.node].State.Counts() && !s.stops.safe[r.job].After(s.at)
}

// Protect says that no task of a job is stopped before an instant: one was stopped
// before this scheduler was made.
func (s *Scheduler) Protect(job int64, until time.Time) {
	if !until.After(s.at) {
		return
	}
	if s.stops.safe == nil {
		s.stops.safe = map[int64]time.Time{}
	}
	if len(s.stops.safe) >= s.stops.sweep {
		maps.DeleteFunc(s.stops.safe, func(_ int64, until time.Time) bool { return !until.After(s.at) })
		s.stops.sweep = 2*len(s.stops.safe) + 64
	}
	if until.After(s.stops.safe[job]) {
		s.stops.safe[job] = until
	}
}

// Safe is the instant before which no task of the job is stopped; zero if there is none.
func (s *Scheduler) Safe(job int64) time.Time {
	if until := s.stops.safe[job]; until.After(s.at) {
		return until
	}
	return time.Time{}
}

// Leave says that a task was told to end, for whatever reason: its room counts as on its
// way to be free, and it is not stopped once more.
func (s *Scheduler) Leave(id RunID) { s.run(id).leaving = true }

// Spare says that a task of a decision is not stopped after all.
func (s *Scheduler) Spare(id RunID) {
	r := s.run(id)
	s.giveTogether(r.group, nil)
	r.leaves = leaves{}
	s.openFits()
}

// giveBack frees the room of a task that ended, or holds it for those that end with it.
func (s *Scheduler) giveBack(r *run) {
	switch {
	case r.group != 0:
		s.giveTogether(r.group, &heldRoom{r.node, r.shape, r.until})
	case s.lingers(r):
		s.linger(r)
		return
	default:
		s.cluster.Give(r.node, r.shape)
		s.giveHeld(r.job)
	}
	s.events++
	s.planEnd(r.node, r.shape, r.until)
}

// giveTogether counts a task out of its group, with the room that it leaves, if any.
func (s *Scheduler) giveTogether(group int32, room *heldRoom) {
	g := s.stops.together[group]
	if g == nil {
		return
	}
	if room != nil {
		g.held = append(g.held, *room)
	}
	if g.left--; g.left > 0 {
		return
	}
	for _, h := range g.held {
		s.cluster.Give(h.node, h.shape)
	}
	delete(s.stops.together, group)
}

func (st *stopping) fork() {
	st.safe = maps.Clone(st.safe)
	all := st.together
	st.together = make(map[int32]*together, len(all))
	for k, g := range all {
		st.together[k] = &together{g.left, slices.Clone(g.held)}
	}
}
