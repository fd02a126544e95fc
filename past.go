package fairlead

import (
	"cmp"
	"slices"
	"time"
)

// How much is remembered of what ran on nodes: enough for a row of a picture, and of so many nodes
// that names which never come back do not add up.
const (
	pastTasks = 64
	pastNodes = 8192
)

// pasts are the tasks that ended last on each node, for as long as the loop lives. It is there to be
// looked at and decides nothing.
type pasts map[string]*pastRuns

// pastRuns are those of one node, in a ring.
type pastRuns struct {
	runs []pastRun
	next int
	last time.Time // when the latest of them ended
}

type pastRun struct {
	id             taskID
	user, pool     string
	units          int64
	started, ended time.Time
}

// note remembers a task that has ended.
func (p *pasts) note(r *liveRun, units int64, ended time.Time) {
	if r.queued {
		return // it never began
	}
	if *p == nil {
		*p = pasts{}
	}
	n := (*p)[r.holder]
	if n == nil {
		if len(*p) >= pastNodes {
			p.forgetOne()
		}
		n = &pastRuns{}
		(*p)[r.holder] = n
	}
	run := pastRun{taskID{r.ref.JobID, r.ref.Task}, r.header.User, r.header.Pool, units, r.started, ended}
	if n.last = ended; len(n.runs) < pastTasks {
		n.runs = append(n.runs, run)
		return
	}
	n.runs[n.next] = run
	n.next = (n.next + 1) % pastTasks
}

// forgetOne forgets the node on which nothing has ended for longest.
func (p *pasts) forgetOne() {
	oldest, found := "", false
	for name, n := range *p {
		if x := (*p)[oldest]; !found || n.last.Before(x.last) || n.last.Equal(x.last) && name < oldest {
			oldest, found = name, true
		}
	}
	delete(*p, oldest)
}

// EndedTasks are the tasks that ended on some nodes since an instant, in the order of the nodes as they
// are named, and on each of when they began. Of each node the last few are remembered, for as
// long as the loop lives.
func (l *Loop) EndedTasks(nodes []string, since time.Time) []NodeTask {
	var out []NodeTask
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range nodes {
		n := l.past[name]
		if n == nil || n.last.Before(since) {
			continue
		}
		first := len(out)
		for _, r := range n.runs {
			if !r.ended.Before(since) {
				ended := r.ended
				out = append(out, NodeTask{Node: name, Job: r.id.job, Task: r.id.task, User: r.user, Pool: r.pool, Units: r.units, Started: r.started, Ended: &ended})
			}
		}
		slices.SortFunc(out[first:], func(a, b NodeTask) int {
			return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
		})
	}
	return out
}
