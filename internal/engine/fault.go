package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/queue"
)

// A node that begins none of its tasks always has room, so it would get the whole queue. Therefore the server drains it
//
//   - when it refused tasks of three users in a row for reasons of its own. If the job names something that is
//     missing, such as a directory, it may be missing everywhere: that counts once another node has begun the job;
//   - when three users in a row named three different things that are missing there;
//   - when the leases of three tasks in a row ended without a sign that the node had begun them, although it
//     reported all the time.
//
// Any task that it begins ends the streak. A failure of the job itself does not count; see [faults.itsOwn].
const (
	faultUsers    = 3
	faultSilences = 3
)

// Fault is a streak of tasks that a node did not begin.
type Fault struct {
	Tasks int       `json:"tasks"` // in a row
	Users int       `json:"users"` // number of different users
	Since time.Time `json:"since"`
	Last  string    `json:"last"` // why it did not begin the last of them
}

// fault is the internal record of such a streak.
type fault struct {
	Fault
	blamed   map[string]bool // users of tasks that count
	open     doubts          // tasks for which the node or their job may be the reason
	silences int             // leases that ended without a sign that the task began
	gone     bool            // the node is drained for it, or is about to be
	proved   time.Time       // start of the last task that it began, or the last success of one of its tasks
	refused  jobSet          // jobs that it has not begun since the start of the streak
}

// faults are the faults of all nodes.
type faults struct {
	nodes map[string]*fault
	known commands // with which tasks began
}

func noFaults() faults { return faults{map[string]*fault{}, commands{}} }

func (f faults) of(node string, now time.Time) *fault {
	x := f.nodes[node]
	if x == nil {
		x = &fault{}
		f.nodes[node] = x
	}
	if x.refused.job == 0 {
		x.Since, x.blamed = now, map[string]bool{}
	}
	return x
}

// notBegun counts a task that its node could not begin. It does not count a task that the node was not meant to run.
func (f faults) notBegun(r *liveRun, of queue.Refusal, cause string, now time.Time) {
	if of == queue.RefusedRule {
		return
	}
	x := f.of(r.Holder, now)
	x.Tasks++
	x.Last = cause
	x.refused.add(r.Ref.JobID)
	// A refusal by a queueing system is final, so it counts without a second node that begins the job.
	if of != queue.RefusedJob || r.bridged() {
		x.blame(r.Header.User)
		return
	}
	x.open.add(r.Ref.JobID, r.Header.User, cause)
}

func (r *liveRun) bridged() bool { return r.member != nil && r.member.Info.Queue }

func (x *fault) blame(user string) {
	x.blamed[user] = true
	x.Users = len(x.blamed)
}

// silent counts a task whose lease ended without a sign that the task had begun.
func (f faults) silent(r *liveRun, now time.Time) {
	x := f.of(r.Holder, now)
	x.Tasks++
	x.silences++
	x.Last = "its lease ended without a report that it had begun"
	x.refused.add(r.Ref.JobID)
	x.blame(r.Header.User)
}

// hear records a node's report that it runs a task. If other nodes could not begin a task of the same job because
// something that the job names was missing, hear blames those nodes: the fault was theirs, not the job's.
func (f faults) hear(r *liveRun) {
	if r.heard {
		return
	}
	r.heard = true
	f.known.begun(r.command, r.Started)
	x := f.nodes[r.Holder]
	if x == nil {
		x = &fault{}
		f.nodes[r.Holder] = x
	}
	switch {
	case x.gone:
	case x.refused.job != 0 && r.Started.Before(x.Since): // it may have broken since
	default:
		*x = fault{proved: later(x.proved, r.Started)}
	}
	for _, a := range r.Header.Avoid {
		if x := f.nodes[a.Node]; x != nil && x.Tasks > 0 && !a.At.Before(x.Since) {
			delete(x.open, r.Ref.JobID)
			x.blame(r.Header.User)
		}
	}
}

// succeeded records that a task of a node has succeeded. That does not end the streak: a node that loses a file system
// may still end the tasks that it has begun.
func (f faults) succeeded(r *liveRun, now time.Time) {
	if x := f.nodes[r.Holder]; x != nil {
		x.proved = now
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// broken returns the nodes to drain, with the reasons.
func (f faults) broken() map[string]string {
	var out map[string]string
	for _, node := range slices.Sorted(maps.Keys(f.nodes)) {
		x := f.nodes[node]
		if x.gone || !x.broken() {
			continue
		}
		x.gone = true
		if out == nil {
			out = map[string]string{}
		}
		out[node] = x.text()
	}
	return out
}

// broken reports whether the node is to be drained.
func (x *fault) broken() bool {
	return x.row().Users >= faultUsers || x.silences >= faultSilences
}

// drains reports whether a node is drained for its faults, or about to be. If such a node
// refuses a task, that proves nothing about the job.
func (f faults) drains(node string) bool {
	x := f.nodes[node]
	return x != nil && (x.gone || x.broken())
}

func (x *fault) text() string {
	row := x.row()
	of := fmt.Sprintf("%d users", row.Users)
	if row.Users == 1 {
		of = "one user"
	}
	return fmt.Sprintf("it could not begin the last %d tasks, of %s; the last error: %s", x.Tasks, of, x.Last)
}

func (x *fault) row() Fault {
	out := x.Fault
	out.Users = max(x.Users, x.open.users())
	return out
}

// Row returns a copy of a node's fault, or nil if it has none. If only one user's tasks were refused, the node counts
// as faultless, because the user's jobs may be wrong.
func (f faults) Row(node string) *Fault {
	x := f.nodes[node]
	if x == nil || x.Users == 0 && x.open.users() < 2 {
		return nil
	}
	out := x.row()
	return &out
}

// ranOut counts an expired lease of a node that still reports, if the node has never reported the task since it got it.
func (f faults) ranOut(r *liveRun, now time.Time) {
	m := r.member
	if m == nil || r.heard || r.Queued || m.Info.Queue || now.Sub(m.Seen) > m.ttl/2 {
		return
	}
	f.silent(r, now)
}

// mended holds when an administrator last resumed each node. Jobs that the node could not begin before that may go
// there again.
type mended map[string]time.Time

// avoided returns the nodes that may not have tasks of a job, because they could not begin one and nobody has resumed
// them since.
func (m mended) avoided(h queue.Header) (nodes []string) {
	for _, a := range m.kept(h.Avoid) {
		nodes = append(nodes, a.Node)
	}
	return nodes
}

// kept returns the nodes of a job that nobody has resumed since they could not begin it.
func (m mended) kept(avoid []queue.Avoided) (kept []queue.Avoided) {
	for _, a := range avoid {
		if m.keptFrom(a) {
			kept = append(kept, a)
		}
	}
	return kept
}

// keptFrom reports whether the job still avoids the node: nobody has resumed the node since it failed to begin the job.
func (m mended) keptFrom(a queue.Avoided) bool { return !m[a.Node].After(a.At) }

// Refused returns the nodes that could not begin a job and do not get it again until they are resumed.
func (m mended) Refused(h queue.Header) []queue.Avoided { return m.kept(h.Avoid) }

// mendedSetting is the prefix of the setting that holds when a node that jobs avoid was resumed.
const mendedSetting = "mended/"

// load reads when nodes were resumed. It reports whether that affects jobs.
func (m mended) load(settings map[string]string) (changed bool) {
	for key, text := range settings {
		node, is := strings.CutPrefix(key, mendedSetting)
		at, err := time.Parse(time.RFC3339Nano, text)
		if is && err == nil && !at.Equal(m[node]) {
			m[node], changed = at, true
		}
	}
	return changed
}

// noteEnd counts an attempt that ended; r is nil if it was unknown.
func noteEnd(t *ends.Tally, r *liveRun, c ends.Cause, now time.Time) {
	if r != nil {
		t.Add(r.Holder, r.Header.User, c, now)
	}
}
