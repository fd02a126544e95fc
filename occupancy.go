package fairlead

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// NodeTask is a task that runs on a node, or ran there.
type NodeTask struct {
	Node    string    `json:"node"`
	Job     int64     `json:"job"`
	Task    int       `json:"task"`
	User    string    `json:"user"`
	Pool    string    `json:"pool"`
	Units   int64     `json:"units"` // of the unit of shares
	Started time.Time `json:"started"`
	// Queued: it has not begun, but waits in another queueing system, since Started.
	Queued bool `json:"queued,omitempty"`
	// Ends is by when it ends, by its time limit; missing if it has none.
	Ends *time.Time `json:"ends,omitempty"`
	// Ended is when it ended; missing while it runs.
	Ended *time.Time `json:"ended,omitempty"`
	// Stop says why it is being stopped, if it is.
	Stop string `json:"stop,omitempty"`
}

// NodeTasks are the tasks that run on some nodes, in the order of the nodes as they are named,
// and on each of when they began. It is one look at all that runs.
func (l *Loop) NodeTasks(nodes []string) []NodeTask {
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		at[n] = i
	}
	var out []NodeTask
	l.mu.Lock()
	defer l.mu.Unlock()
	unit := l.core.Cluster().Unit()
	for id, r := range l.runs {
		if _, asked := at[r.holder]; !asked {
			continue
		}
		t := NodeTask{
			Node: r.holder, Job: id.job, Task: id.task, User: r.header.User, Pool: l.core.Path(l.named(r.pool)),
			Units: max(1, r.header.Request[unit]), Started: r.started, Queued: r.queued, Stop: r.stop,
		}
		if r.header.Limit > 0 && !r.queued {
			ends := r.started.Add(r.header.Limit)
			t.Ends = &ends
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b NodeTask) int {
		return cmp.Or(cmp.Compare(at[a.Node], at[b.Node]), a.Started.Compare(b.Started), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
	})
	return out
}

// named is the pool of a band of priority, as people know it.
func (l *Loop) named(id sched.PoolID) sched.PoolID {
	for l.core.Band(id) {
		id = l.core.Parent(id)
	}
	return id
}
