package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// runs are the running tasks.
type runs map[taskID]*liveRun

// missing returns the attempts that the engine expects on the node and that the worker does not have. It assigns the
// other attempts to the worker.
func (all runs) missing(m *joinedNode, running []queue.Ref) []queue.Ref {
	has := make(map[queue.Ref]bool, len(running)) // a bridge may have thousands
	for _, ref := range running {
		has[ref] = true
	}
	var missing []queue.Ref
	for _, r := range all {
		if r.Holder != m.name {
			continue
		}
		if has[r.Ref] {
			r.member = m
		} else if running != nil {
			missing = append(missing, r.Ref)
		}
	}
	return missing
}

// liveRun is a running task.
type liveRun struct {
	Ref     queue.Ref
	run     sched.RunID
	member  *joinedNode // nil while its holder has not joined (again)
	Holder  string
	Pool    sched.PoolID
	Header  queue.Header
	Started time.Time
	came    time.Time // when it began to wait for room
	Stop    string    // why its holder must stop it; "" if it need not
	Queued  bool      // waits in another queueing system since started
	begun   bool      // waited there, and began
	heard   bool      // its holder has reported that it runs
	command string    // of its job; "" for none, and for tasks that this engine did not start
	renewed time.Time // when its holder last reported that it runs
}

// taskID names a task regardless of its attempt.
type taskID struct {
	Job  int64
	Task int
}

// Worker carries out leases on one node: Go handlers in this process, or an agent at the other end of a connection. Its
// methods must not block, and must not call the engine, because the engine calls them while it decides.
type Worker interface {
	// Start begins to run the leases.
	Start(leases []*queue.Lease)
	// Stop ends attempts early: their job was canceled or requeued, they make room for others, or they no longer belong
	// to the worker. The worker still finishes the attempts that it holds.
	Stop(refs []queue.Ref, why string)
}

// NodeInfo is what a node says about itself.
type NodeInfo struct {
	Version string
	Host    string
	Labels  map[string]string // for constraints of jobs
	// Queue: tasks of the node wait in another queueing system until the worker reports that they began; see
	// [Member.Progress].
	Queue bool
	// Lease is the length of the node's leases from the start, if longer than usual: its tasks may continue elsewhere
	// while the node is silent.
	Lease time.Duration
}

// joinedNode is a node whose worker has joined.
type joinedNode struct {
	name     string
	worker   Worker
	capacity queue.Amounts
	Info     NodeInfo
	Seen     time.Time
	ttl      time.Duration // of its leases
	lost     bool          // it counts as lost, and has not reported since
	Draining bool
	gone     bool
}

// silentFor reports whether the worker has been silent for longer than a lease.
func (n *joinedNode) silentFor(now time.Time) bool { return now.Sub(n.Seen) > n.ttl }

// The number of holders of a license that are named, and of jobs for each.
const (
	maxHolders    = 5
	maxHolderJobs = 10
)

// Holders returns the users whose tasks hold most of a license.
func (all runs) Holders(license string) []why.Holder {
	byUser := map[string]*why.Holder{}
	for _, r := range all {
		n := r.Header.Licenses[license]
		if n == 0 {
			continue
		}
		h := byUser[r.Header.User]
		if h == nil {
			h = &why.Holder{User: r.Header.User}
			byUser[h.User] = h
		}
		h.Count += n
		if !slices.Contains(h.Jobs, r.Header.ID) && len(h.Jobs) < maxHolderJobs {
			h.Jobs = append(h.Jobs, r.Header.ID)
		}
	}
	out := []why.Holder{}
	for _, h := range byUser {
		slices.Sort(h.Jobs)
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b why.Holder) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.User, b.User))
	})
	return out[:min(len(out), maxHolders)]
}
