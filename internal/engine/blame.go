package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/queue"
)

// When a node cannot begin a task because a name in the job is missing there, the job or the node may be the reason. A
// mistyped command is missing everywhere; a node that has lost a file system lacks files that other nodes have. If the
// job is the reason, it fails at once, as in a shell. If the node is the reason, it must not make jobs fail. So in case
// of doubt the job goes to another node.

// notBegun is a task that a node could not begin.
type notBegun struct {
	run     *liveRun
	outcome *queue.Outcome
	avoid   []queue.Avoided // nodes that could not begin tasks of the job before
	command string          // of the job
}

// itsOwn reports whether the job is the reason. The job is the reason in two cases:
//
//   - The name is missing, the directories above it exist, and the node has begun other tasks lately. This does not
//     count if another job has lately begun with the same command: then the command is missing on this node only.
//   - Another node failed in the same way before. Besides, one of the two nodes has begun other tasks lately, or both
//     have the directories above the name.
func (f faults) itsOwn(x notBegun, now time.Time) bool {
	o, job := x.outcome, x.run.Ref.JobID
	if o.Refused != queue.RefusedJob || x.run.bridged() {
		return false
	}
	typo := o.NotFound && !(o.ExitCode == exitNotFound && f.known.recent(x.command, now))
	proven := f.proven(x.run.Holder, job, now)
	if typo && proven {
		return true
	}
	before := x.sameWay()
	return before != "" && (typo || proven || f.proven(before, job, now))
}

// sameWay returns another node that failed to begin the job in the same way before, or "".
func (x notBegun) sameWay() string {
	for _, a := range x.avoid {
		start, cut := strings.CutSuffix(a.Cause, "...")
		same := a.Cause == x.outcome.Cause || cut && strings.HasPrefix(x.outcome.Cause, start)
		if same && a.Node != x.run.Holder {
			return a.Node
		}
	}
	return ""
}

// end fails the task, and names the nodes that could not begin it.
func (x notBegun) end() {
	if before := x.sameWay(); before != "" {
		x.outcome.Cause += fmt.Sprintf(", on %s and %s", before, x.run.Holder)
	}
	x.outcome.Final, x.outcome.NotFound = true, true
}

// exitNotFound is the code with which shells say that they did not find a command.
const exitNotFound = 127

// proven reports whether a node is known to work. That is so if it has begun or completed tasks lately, and since it
// last began a task, no other job has failed to begin there.
func (f faults) proven(node string, job int64, now time.Time) bool {
	x := f.nodes[node]
	return x != nil && now.Sub(x.proved) < provenFor && x.refused.only(job)
}

// anyProven reports whether some node that could not begin the job works.
func (f faults) anyProven(x notBegun, now time.Time) bool {
	job := x.run.Ref.JobID
	return f.proven(x.run.Holder, job, now) || slices.ContainsFunc(x.avoid, func(a queue.Avoided) bool {
		return f.proven(a.Node, job, now)
	})
}

// acquit cancels the counts of a job's tasks against nodes.
func (f faults) acquit(job int64) {
	for _, x := range f.nodes {
		d := x.open[job]
		if d == nil {
			continue
		}
		delete(x.open, job)
		x.Tasks -= d.tasks
		if x.Last == d.cause {
			x.Last = x.open.last()
		}
	}
}

// countRefused counts an attempt that did not begin against its node, unless its job is the reason. The argument
// reported is the outcome before the engine decided about it. The run is nil if it was unknown.
func countRefused(s *State, r *liveRun, o, reported queue.Outcome, now time.Time) {
	switch {
	case o.Refused == queue.RefusedJob && o.Final && o.NotFound:
		noteEnd(&s.Ends, r, ends.Exit, now)
		if r != nil {
			s.Faults.acquit(r.Ref.JobID)
		}
		if r != nil && !reported.NotFound { // the node may have lost a file system: it has to prove itself anew
			s.Faults.of(r.Holder, now).refused.add(r.Ref.JobID)
		}
		return
	case r != nil:
		s.Faults.notBegun(r, o.Refused, reported.Cause, now)
	}
	noteEnd(&s.Ends, r, ends.Refused, now)
	s.stats.Refused++
}
