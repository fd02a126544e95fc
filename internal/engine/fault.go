package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// A node that begins nothing of what it is given would be given the whole queue, as it always
// has room. So it is drained
//
//   - when it refused tasks of three users one after the other, for reasons of its own. What
//     only the job names, such as a directory, may be missing everywhere: it counts once
//     another node has begun the job;
//   - when the leases of three tasks one after the other ended without a sign that it had begun
//     them, although it was heard of all the time.
//
// Any task that it begins is the end of the row.
const (
	faultUsers    = 3
	faultSilences = 3
)

// Fault is a row of tasks that a node did not begin.
type Fault struct {
	Tasks int       `json:"tasks"` // in a row
	Users int       `json:"users"` // whose they were
	Since time.Time `json:"since"`
	Last  string    `json:"last"` // why it did not begin the last of them
}

// fault has the facts about such a row.
type fault struct {
	Fault
	blamed   map[string]bool // users of tasks that count
	silences int             // leases that ended without a sign of a beginning
	gone     bool            // the node is drained for it, or is about to be
}

// faults are those of all nodes.
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
	// A queueing system refuses for good, and what it refuses no other one has to begin.
	if bridged := r.member != nil && r.member.Info.Queue; o.Refused != queue.RefusedJob || bridged {
		x.blame(r.Header.User)
	}
}

func (x *fault) blame(user string) {
	x.blamed[user] = true
	x.Users = len(x.blamed)
}

// silent counts a task of whose beginning nothing was heard while its lease lasted.
func (f faults) silent(r *liveRun, now time.Time) {
	x := f.of(r.Holder, now)
	x.Tasks++
	x.silences++
	x.Last = "its lease ended, and it was not said to have begun"
	x.blame(r.Header.User)
}

// begun notes that a node has begun a task. Nodes that could not begin one of the same job for
// what the job names are to blame for that, and not the job.
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

// broken are the nodes that are to be drained, with the reasons.
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
		out[node] = x.text() + " (by the server)"
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

// Row is the row of a node as others see it; nil if it has none.
func (f faults) Row(node string) *Fault {
	x := f[node]
	if x == nil {
		return nil
	}
	out := x.Fault
	return &out
}

// ranOut counts leases that ended on nodes which are heard of, and of whose tasks nothing was
// said since they were handed over.
func (f faults) ranOut(r *liveRun, now time.Time) {
	m := r.member
	if m == nil || r.heard || r.Queued || m.Info.Queue || now.Sub(m.Seen) > m.ttl/2 {
		return
	}
	f.silent(r, now)
}

// hear notes that a node says of a task that it runs there.
func (f faults) hear(r *liveRun) {
	if r.heard {
		return
	}
	r.heard = true
	f.begun(r)
}

// mended is when an administrator resumed each node last: jobs that it could not begin before may go
// there again.
type mended map[string]time.Time

// avoided returns the nodes that may not have tasks of a job, because they could not begin one and
// were not resumed since.
func (m mended) avoided(h queue.Header) (nodes []string) {
	for _, a := range h.Avoid {
		if m.keptFrom(a) {
			nodes = append(nodes, a.Node)
		}
	}
	return nodes
}

// keptFrom reports whether nobody has resumed a node since it could not begin a job.
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

// mendedSetting is the key prefix under which it is kept when a node was resumed from which
// jobs are kept.
const mendedSetting = "mended/"

// load reads when nodes were resumed. It reports whether that concerns jobs.
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
