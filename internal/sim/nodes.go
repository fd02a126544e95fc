package sim

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// A job that finds room on one node is one task. A wider one is a gang with a task on each of
// as few nodes as will do, of equal size, which is rounded up.

// join makes the nodes.
func (e *engine) join(unit string) error {
	n := max(1, e.w.Nodes)
	if e.w.Procs%n != 0 {
		return fmt.Errorf("%s: %d processors cannot be on %d nodes of equal size", e.w.Name, e.w.Procs, n)
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

// shape is what a job of so many processors asks for.
func (e *engine) shape(unit string, procs int64) cluster.Shape {
	size := int64(e.w.Procs / max(1, e.w.Nodes))
	nodes := (procs + size - 1) / size
	if nodes <= 1 {
		return e.core.Shape(cluster.Amounts{unit: procs})
	}
	return e.core.ShapeOf(sched.Request{Amounts: cluster.Amounts{unit: (procs + nodes - 1) / nodes}, Gang: int(nodes), Spread: true})
}

// tasks is how many tasks a job has.
func (e *engine) tasks(job int) int {
	n, _ := e.core.Cluster().Gang(e.shapes[job])
	return n
}

// finish ends all tasks of a job.
func (e *engine) finish(job int32, first sched.RunID, t time.Time, learn bool) {
	e.core.Finish(first, t, learn)
	for _, run := range e.gangs.take(job) {
		e.core.Finish(run, t, learn)
	}
}

// gangs are the further tasks of the gangs that run, by job.
type gangs map[int32][]sched.RunID

// add notes a task that starts, and reports whether it is a further one of a gang of so many.
func (g *gangs) add(job int32, run sched.RunID, tasks int) bool {
	if tasks == 1 {
		return false
	}
	if *g == nil {
		*g = gangs{}
	}
	further, runs := (*g)[job]
	if runs {
		further = append(further, run)
	}
	(*g)[job] = further
	return runs
}

// take forgets a gang and returns its further tasks.
func (g gangs) take(job int32) []sched.RunID {
	further := g[job]
	delete(g, job)
	return further
}
