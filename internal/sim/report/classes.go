package report

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/sim"
)

// class is a part of the jobs whose waits are compared.
type class struct {
	name string
	has  func(job int) bool
	jobs int
}

// classes divides the jobs of a workload twice: by the work of their users, and by the length and the width
// of the jobs. It omits classes without jobs.
func classes(r *sim.Result) []class {
	w := r.Workload
	standing := standings(r)
	long := func(i int) bool { return w.Jobs[i].Run >= 3600 }
	wide := func(i int) bool { return int(w.Jobs[i].Procs)*8 > w.Procs }
	all := []class{
		{name: "all jobs", has: func(int) bool { return true }},
		{name: "users with half of the work", has: func(i int) bool { return standing[w.Jobs[i].User] == heavy }},
		{name: "users in between", has: func(i int) bool { return standing[w.Jobs[i].User] == between }},
		{name: "users with the last tenth", has: func(i int) bool { return standing[w.Jobs[i].User] == light }},
		{name: "short, narrow jobs", has: func(i int) bool { return !long(i) && !wide(i) }},
		{name: "short, wide jobs", has: func(i int) bool { return !long(i) && wide(i) }},
		{name: "long, narrow jobs", has: func(i int) bool { return long(i) && !wide(i) }},
		{name: "long, wide jobs", has: func(i int) bool { return long(i) && wide(i) }},
	}
	for i := range w.Jobs {
		for k := range all {
			if all[k].has(i) {
				all[k].jobs++
			}
		}
	}
	return slices.DeleteFunc(all, func(c class) bool { return c.jobs == 0 })
}

const kinds = "Users are grouped by their work: the few users with half of the work, the users with the last tenth, and the others. Long is an hour or more; wide is more than an eighth of the machine."

// standing ranks a user by its work.
type standing uint8

const (
	heavy   standing = iota // of the few users who have half of all work
	between                 // the next four tenths
	light                   // the last tenth
)

// standings returns the standing of each user, by its index in the workload.
func standings(r *sim.Result) []standing {
	work := make([]float64, len(r.Workload.Users))
	places := make([]int, len(work))
	total := 0.0
	for i := range places {
		places[i] = i
	}
	for _, j := range r.Workload.Jobs {
		work[j.User] += float64(j.Run) * float64(j.Procs)
		total += float64(j.Run) * float64(j.Procs)
	}
	slices.SortStableFunc(places, func(a, b int) int {
		switch {
		case work[a] > work[b]:
			return -1
		case work[a] < work[b]:
			return 1
		}
		return a - b
	})
	of := make([]standing, len(work))
	before := 0.0
	for _, u := range places {
		switch {
		case before < 0.5*total:
			of[u] = heavy
		case before < 0.9*total:
			of[u] = between
		default:
			of[u] = light
		}
		before += work[u]
	}
	return of
}

// Kinds draws the mean waits of kinds of users and jobs.
func (r *Report) Kinds(width float64) plot.Figure {
	runs, note := r.comparable()
	f := plot.Bars{Title: "Mean wait of kinds of users and jobs", Note: kinds + note, Unit: plot.Seconds, Width: width}
	f.Series, f.Styles = r.names(runs)
	for _, c := range classes(r.Runs[0].Result) {
		g := plot.Group{Name: fmt.Sprintf("%s (%s)", c.name, plot.Count(float64(c.jobs)))}
		for _, run := range runs {
			g.Values = append(g.Values, meanWait(run.Result, c.has))
		}
		f.Groups = append(f.Groups, g)
	}
	return f
}

func meanWait(r *sim.Result, has func(job int) bool) float64 {
	sum, n := 0.0, 0
	for i := range r.Workload.Jobs {
		if r.Schedule.Started(i) && has(i) {
			sum += float64(r.Wait(i))
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// names returns the names of some of the runs, with the styles that they have in all pictures.
func (r *Report) names(runs []Run) (names []string, styles []int) {
	for _, run := range runs {
		names = append(names, run.Name)
		styles = append(styles, 1+slices.IndexFunc(r.Runs, func(x Run) bool { return x.Result == run.Result }))
	}
	return names, styles
}

// comparable returns the runs whose waits fit one picture. It omits runs with more than ten times the
// smallest mean wait, and the note says so.
func (r *Report) comparable() (runs []Run, note string) {
	least := r.Runs[0].Metrics.MeanWait
	for _, run := range r.Runs {
		least = min(least, run.Metrics.MeanWait)
	}
	for _, run := range r.Runs {
		if mean := run.Metrics.MeanWait; least > 0 && mean > 10*least {
			note += fmt.Sprintf(" %s is left out: its mean wait is %s.", run.Name, plot.Duration(mean))
			continue
		}
		runs = append(runs, run)
	}
	return runs, note
}
