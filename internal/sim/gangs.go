package sim

import "github.com/fairlead/fairlead/sched"

// gangs holds, by job, the tasks of the running gangs after the first.
type gangs map[int32][]sched.RunID

// add records a starting task of a job with this number of tasks. It reports whether the task belongs to a
// gang and is not its first.
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

// take removes a gang and returns its tasks after the first.
func (g gangs) take(job int32) []sched.RunID {
	further := g[job]
	delete(g, job)
	return further
}
