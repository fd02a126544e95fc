package sim

import "github.com/fairlead/fairlead/sched"

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
