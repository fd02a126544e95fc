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

// A node that begins none of its tasks always has room, so it would be given the whole queue. So it is drained
//
//   - when it refused tasks of three users in a row for reasons of its own. If the job names something that is
//     missing, such as a directory, it may be missing everywhere: that counts once another node has begun the job;
//   - when the leases of three tasks in a row ended without a sign that the node had begun them, although it
//     reported all the time.
//
// Any task that it begins ends the row.
const (
	faultUsers    = 3
	faultSilences = 3
)

// byTheServer ends the reason of a node that the server drained.
const byTheServer = " (by the server)"

// Fault is a row of tasks that a node did not begin.
type Fault struct {
	Tasks int       `json:"tasks"` // in a row
	Users int       `json:"users"` // number of different users
	Since time.Time `json:"since"`
	Last  string    `json:"last"` // why it did not begin the last of them
}

// fault is the internal record of such a row.
type fault struct {
	Fault
	blamed   map[string]bool // users of tasks that count
	silences int             // leases that ended without a sign that the task began
	gone     bool            // the node is drained for it, or about to be
}

// faults are the faults of all nodes, by name.
type faults map[string]*fault

func (f faults) of(node string, now time.Time) *fault {
	x := f[node]
	if x == nil {
		x = &fault{Fault: Fault{Since: now}, blamed: map[string]bool{}}
		f[node] = x
	}
	return x
}

// refused counts a task that its node could not begin.
func (f faults) refused(r *liveRun, o queue.Outcome, now time.Time) {
	x := f.of(r.Holder, now)
	x.Tasks++
	x.Last = o.Cause
	// A refusal by a queueing system is final, so it counts without a second node that begins the job.
	if bridged := r.member != nil && r.member.Info.Queue; o.Refused != queue.RefusedJob || bridged {
		x.blame(r.Header.User)
	}
}

func (x *fault) blame(user string) {
	x.blamed[user] = true
	x.Users = len(x.blamed)
}

// silent counts a task whose lease ended without a sign that the task had begun.
func (f faults) silent(r *liveRun, now time.Time) {
	x := f.of(r.Holder, now)
	x.Tasks++
	x.silences++
	x.Last = "its lease ended, and it was not said to have begun"
	x.blame(r.Header.User)
}

// begun records that a node has begun a task. It blames the nodes that could not begin a task of the same job because
// of something the job names: the fault was theirs, not the job's.
func (f faults) begun(r *liveRun) {
	if x := f[r.Holder]; x != nil && !x.gone && !r.Started.Before(x.Since) {
		delete(f, r.Holder)
	}
	for _, a := range r.Header.Avoid {
		if x := f[a.Node]; x != nil && !a.At.Before(x.Since) {
			x.blame(r.Header.User)
		}
	}
}

// broken returns the nodes to drain, with the reasons.
func (f faults) broken() map[string]string {
	var out map[string]string
	for _, node := range slices.Sorted(maps.Keys(f)) {
		x := f[node]
		if x.gone || x.Users < faultUsers && x.silences < faultSilences {
			continue
		}
		x.gone = true
		if out == nil {
			out = map[string]string{}
		}
		out[node] = x.text() + byTheServer
	}
	return out
}

func (x *fault) text() string {
	of := fmt.Sprintf("%d users", x.Users)
	if x.Users == 1 {
		of = "one user"
	}
	return fmt.Sprintf("it has begun none of the last %d tasks, of %s; the last: %s", x.Tasks, of, x.Last)
}

// Row returns a copy of a node's fault, or nil if it has none.
func (f faults) Row(node string) *Fault {
	x := f[node]
	if x == nil {
		return nil
	}
	out := x.Fault
	return &out
}

// ranOut counts an expired lease of a node that still reports, if it never reported on the task since it was handed
// over.
func (f faults) ranOut(r *liveRun, now time.Time) {
	m := r.member
	if m == nil || r.heard || r.Queued || m.Info.Queue || now.Sub(m.Seen) > m.ttl/2 {
		return
	}
	f.silent(r, now)
}

// hear records that a node reports that it runs a task.
func (f faults) hear(r *liveRun) {
	if r.heard {
		return
	}
	r.heard = true
	f.begun(r)
}

// mended holds when an administrator last resumed each node. Jobs that the node could not begin before that may go
// there again.
type mended map[string]time.Time

// avoided returns the nodes that may not have tasks of a job, because they could not begin one and nobody has resumed
// them since.
func (m mended) avoided(h queue.Header) (nodes []string) {
	for _, a := range h.Avoid {
		if m.keptFrom(a) {
			nodes = append(nodes, a.Node)
		}
	}
	return nodes
}

// keptFrom reports whether the job still avoids the node: nobody has resumed the node since it failed to begin the job.
func (m mended) keptFrom(a queue.Avoided) bool { return !m[a.Node].After(a.At) }

// RefusedText says which nodes could not begin a job, and why; "" for none.
func (m mended) RefusedText(h queue.Header) string {
	var parts []string
	for _, a := range h.Avoid {
		if m.keptFrom(a) {
			parts = append(parts, fmt.Sprintf("%s could not begin it (%s) and does not get it again until it is resumed", a.Node, a.Cause))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, "; ")
}

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
