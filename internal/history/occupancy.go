package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
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
func (rc *Recorder) NodeTasks(nodes []string) []NodeTask {
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		at[n] = i
	}
	var out []NodeTask
	return engine.Read(rc.loop, func(s *engine.State) []NodeTask {
		unit := s.Core.Cluster().Unit()
		for id, r := range s.Runs {
			if _, asked := at[r.Holder]; !asked {
				continue
			}
			t := NodeTask{
				Node: r.Holder, Job: id.Job, Task: id.Task, User: r.Header.User, Pool: s.Core.Path(named(s, r.Pool)),
				Units: max(1, r.Header.Request[unit]), Started: r.Started, Queued: r.Queued, Stop: r.Stop,
			}
			if r.Header.Limit > 0 && !r.Queued {
				ends := r.Started.Add(r.Header.Limit)
				t.Ends = &ends
			}
			out = append(out, t)
		}
		slices.SortFunc(out, func(a, b NodeTask) int {
			return cmp.Or(cmp.Compare(at[a.Node], at[b.Node]), a.Started.Compare(b.Started), cmp.Compare(a.Job, b.Job),
				cmp.Compare(a.Task, b.Task))
		})
		return out
	})
}

// EndedTasks are the tasks that ended on some nodes since an instant, in the order of the nodes as they
// are named, and on each of when they began. Of each node the last few are remembered, for as
// long as the loop lives.
func (rc *Recorder) EndedTasks(nodes []string, since time.Time) []NodeTask {
	var out []NodeTask
	return engine.Read(rc.loop, func(s *engine.State) []NodeTask {
		for _, name := range nodes {
			n := s.Past[name]
			if n == nil || n.Last.Before(since) {
				continue
			}
			first := len(out)
			for _, r := range n.Runs {
				if !r.Ended.Before(since) {
					ended := r.Ended
					out = append(out, NodeTask{Node: name, Job: r.ID.Job, Task: r.ID.Task, User: r.User, Pool: r.Pool, Units: r.Units,
						Started: r.Started, Ended: &ended})
				}
			}
			slices.SortFunc(out[first:], func(a, b NodeTask) int {
				return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
			})
		}
		return out
	})
}

// named is the pool of a priority class, as people know it.
func named(s *engine.State, id sched.PoolID) sched.PoolID {
	for s.Core.Read().PriorityClass(id) {
		id = s.Core.Read().Parent(id)
	}
	return id
}
