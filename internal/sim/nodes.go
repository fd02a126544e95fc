package sim

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// A job that fits on one node is one task. A wider job is a gang with one task per node, on the smallest
// number of nodes; its tasks have equal size, rounded up.

// join adds the nodes to the core.
func (e *engine) join(unit string) error {
	n := max(1, e.w.Nodes)
	if e.w.Procs%n != 0 {
		return fmt.Errorf("%s: %d processors do not divide evenly among %d nodes", e.w.Name, e.w.Procs, n)
	}
	for i := range n {
		name := "machine"
		if n > 1 {
			name = fmt.Sprint("n", i+1)
		}
		e.core.Join(name, cluster.Amounts{unit: int64(e.w.Procs / n)}, e.at(e.now))
	}
	return nil
}

// keyFor returns the scheduling key of a job that asks for a number of processors. The user is "" without a limit on
// the running tasks of users.
func (e *engine) keyFor(unit string, procs int64, user string) cluster.Key {
	size := int64(e.w.Procs / max(1, e.w.Nodes))
	nodes := (procs + size - 1) / size
	if nodes <= 1 {
		return e.core.KeyOf(sched.Request{Amounts: cluster.Amounts{unit: procs}, User: user})
	}
	return e.core.KeyOf(sched.Request{Amounts: cluster.Amounts{unit: (procs + nodes - 1) / nodes}, Gang: int(nodes),
		Spread: true, User: user})
}

// tasks returns the number of tasks of a job.
func (e *engine) tasks(job int) int {
	n, _ := e.core.Cluster().Gang(e.keys[job])
	return n
}

// finish ends all tasks of a job.
func (e *engine) finish(job int32, first sched.RunID, t time.Time, learn bool) {
	e.core.Finish(first, t, learn)
	for _, run := range e.gangs.take(job) {
		e.core.Finish(run, t, learn)
	}
}
