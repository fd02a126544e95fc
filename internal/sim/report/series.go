package report

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/sim"
)

// points makes steps from the averages of a series, at most "most" of them: it averages longer series again, so that a
// year does not look like noise.
func points(s *sim.Series, averages []float64, makespan int64, most int) []plot.Point {
	if len(averages) == 0 {
		return nil
	}
	each := gather(averages, most)
	var steps []plot.Point
	for i := 0; i < len(averages); i += each {
		part := averages[i:min(i+each, len(averages))]
		sum := 0.0
		for _, v := range part {
			sum += v
		}
		steps = append(steps, plot.Point{X: float64(int64(i) * s.Step), Y: sum / float64(len(part))})
	}
	return append(steps, plot.Point{X: float64(makespan), Y: steps[len(steps)-1].Y})
}

// gather returns the number of averages to combine, so that there are at most "most" steps.
func gather(averages []float64, most int) int { return (len(averages) + most - 1) / most }

// waits returns how long jobs waited.
func waits(r *sim.Result) []float64 {
	var values []float64
	for i := range r.Workload.Jobs {
		if r.Schedule.Started(i) {
			values = append(values, float64(r.Wait(i)))
		}
	}
	return values
}

// heaviest returns the users with the most processor time in some runs, at most n of them.
func heaviest(runs []run, n int) []string {
	had := map[string]int64{}
	for _, j := range runs {
		had[j.user] += (j.end - j.start) * int64(j.procs)
	}
	users := make([]string, 0, len(had))
	for u := range had {
		users = append(users, u)
	}
	slices.SortFunc(users, func(a, b string) int {
		return cmp.Or(cmp.Compare(had[b], had[a]), cmp.Compare(a, b))
	})
	return users[:min(n, len(users))]
}
