package history

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/sched"
)

// NodeTask is a task that runs or ran on a node.
type NodeTask struct {
	Node string `json:"node"`
	Job  int64  `json:"job"`
	Task int    `json:"task"`
	// Number is the number of the task, as counted in its job; missing if the job has only one task, or is no longer
	// stored.
	Number *int `json:"number,omitempty"`
	// Only: its job is known to have no other task, so the task has no number.
	Only    bool      `json:"-"`
	User    string    `json:"user"`
	Pool    string    `json:"pool"`
	Units   int64     `json:"units"` // of the unit of shares
	Started time.Time `json:"started"`
	// Queued: it has not begun, but has waited in another queueing system since Started.
	Queued bool `json:"queued,omitempty"`
	// Ends is the latest end by the time limit; missing if the task has no limit.
	Ends *time.Time `json:"ends,omitempty"`
	// Ended is when it ended; missing while it runs.
	Ended *time.Time `json:"ended,omitempty"`
	// Stop is the reason why the task is being stopped, if it is.
	Stop string `json:"stop,omitempty"`
	// State is how it ended: succeeded, failed, cancelled or lost; missing while it runs, or if another server ended it.
	State    string `json:"state,omitempty"`
	ExitCode int    `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Cause    string `json:"cause,omitempty"`
	MaxRSS   int64  `json:"max_rss_bytes,omitempty"`
}

// Name names the task as commands do: 12 is the only task of job 12, and 12_7 the task with the number 7.
func (t *NodeTask) Name() string {
	name := strconv.FormatInt(t.Job, 10)
	if t.Number != nil {
		name += "_" + strconv.Itoa(*t.Number)
	}
	return name
}

// NodeTasks returns the running tasks of some nodes, in the order of the named nodes, and for each node by their
// beginning. It reads all running tasks once.
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
				Only: r.Header.Tasks == 1,
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

// EndedTasks returns the tasks that ended on some nodes since an instant, in the order of the named nodes, and for each
// node by their beginning. Only the last few tasks of each node are kept, until the engine ends.
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
						Started: r.Started, Ended: &ended, State: string(r.End.State), ExitCode: r.End.ExitCode, Signal: r.End.Signal,
						Cause: r.End.Cause, MaxRSS: r.End.MaxRSS})
				}
			}
			slices.SortFunc(out[first:], func(a, b NodeTask) int {
				return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
			})
		}
		return out
	})
}

// named returns the pool of a priority class under the name that people know.
func named(s *engine.State, id sched.PoolID) sched.PoolID {
	for s.Core.Read().PriorityClass(id) {
		id = s.Core.Read().Parent(id)
	}
	return id
}
