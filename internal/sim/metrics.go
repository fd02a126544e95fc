package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairlead/fairlead/usage"
)

// tau bounds slowdowns, in seconds: a job that runs for less counts as if it ran for tau.
const tau = 10

// Wait returns the time that a job that started waited until its last start.
func (r *Result) Wait(job int) int64 { return r.Schedule.Start[job] - r.Workload.Jobs[job].Submit }

// End returns the second in which a job that started ended.
func (r *Result) End(job int) int64 { return r.Schedule.Start[job] + r.Workload.Jobs[job].Run }

// last returns the second in which the last job ended.
func (r *Result) last() int64 { return r.Workload.Jobs[0].Submit + r.Metrics.Makespan }

// slowdown returns the bounded slowdown of a job that started.
func (r *Result) slowdown(job int) float64 {
	run := r.Workload.Jobs[job].Run
	return max(1, float64(r.Wait(job)+run)/float64(max(run, tau)))
}

// sample collects the waits and slowdowns of some jobs.
type sample struct {
	jobs      int
	work      float64
	waits     []int64
	slowdowns []float64
	overDay   int
}

func (s *sample) add(r *Result, job int) {
	j, wait := &r.Workload.Jobs[job], r.Wait(job)
	s.work += float64(j.Run) * float64(j.Procs)
	s.waits = append(s.waits, wait)
	s.slowdowns = append(s.slowdowns, r.slowdown(job))
	if wait > day {
		s.overDay++
	}
}

// measure computes the metrics that follow from the schedule alone.
func (r *Result) measure() {
	w, m := r.Workload, &r.Metrics
	var all sample
	users := make([]sample, len(w.Users))
	var wide []int64
	last := w.Jobs[0].Submit
	for i := range w.Jobs {
		users[w.Jobs[i].User].jobs++
		if !r.Schedule.Started(i) {
			m.Unstarted++
			continue
		}
		last = max(last, r.End(i))
		all.add(r, i)
		if 4*int(w.Jobs[i].Procs) >= w.Procs {
			wide = append(wide, r.Wait(i))
		}
		users[w.Jobs[i].User].add(r, i)
	}
	m.Limits = w.Limits
	m.Jobs, m.Makespan, m.OverDay = len(w.Jobs), last-w.Jobs[0].Submit, all.overDay
	if m.Makespan > 0 {
		m.Utilisation = all.work / (float64(w.Procs) * float64(m.Makespan))
	}
	m.MeanWait, m.MeanSlowdown = mean(all.waits), mean(all.slowdowns)
	m.WideWait, m.LongestWait = mean(wide), Percentile(all.waits, 100)
	m.P50Wait, m.P95Wait, m.P95Slowdown = Percentile(all.waits, 50), Percentile(all.waits, 95), Percentile(all.slowdowns,
		95)
	for i, s := range users {
		m.Users = append(m.Users, UserMetrics{
			User: w.Users[i], Jobs: s.jobs, Work: s.work, MeanWait: mean(s.waits), P95Wait: Percentile(s.waits, 95),
			MeanSlowdown: mean(s.slowdowns), OverDay: s.overDay,
		})
	}
	m.Stopped = len(r.Schedule.Lost)
	for _, x := range r.Schedule.Lost {
		m.LostSeconds += float64(x.End-x.Start) * float64(w.Jobs[x.Job].Procs)
	}
}

// mean returns the mean of the values, or 0 without values.
func mean[T int64 | float64](values []T) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return sum / math.Max(1, float64(len(values)))
}

// Percentile returns the smallest value that percent of the values do not exceed ("nearest rank"); it sorts
// the values. Without values it returns 0.
func Percentile[T cmp.Ordered](values []T, percent int) (value T) {
	if len(values) == 0 {
		return value
	}
	slices.Sort(values)
	return values[(len(values)*percent+99)/100-1]
}

// addFairness adds the results of the account of fairness.
func (r *Result) addFairness(a *account) {
	m := &r.Metrics
	shares := make([]float64, len(m.Users))
	for n, c := range a.claims {
		u, t := &m.Users[c.user], a.fair.Total(n)
		u.Pools = append(u.Pools, r.Workload.Pools[c.pool])
		u.Received += t.Received
		u.Due += t.Ideal
		u.Lag += t.Lag()
		u.LargestLag += t.Largest
		shares[c.user] += a.tree.shareOf(n)
	}
	for i := range m.Users {
		m.Users[i].Share = shares[i] / math.Max(1, float64(a.users[i].busy))
	}
	m.IdleWanted = a.fair.IdleTotal()
	r.lateness(a)
}

// lateness compares the end of each job with its end on a private machine of its user, see [usage.OwnFinish].
// A job that never started is late until the end.
func (r *Result) lateness(a *account) {
	w := r.Workload
	tasks, jobs := make([][]usage.OwnTask, len(w.Users)), make([][]int, len(w.Users))
	for i, j := range w.Jobs {
		if a.feasible(i) {
			tasks[j.User] = append(tasks[j.User],
				usage.OwnTask{Submit: float64(j.Submit), Length: float64(j.Run), Width: int(j.Procs)})
			jobs[j.User] = append(jobs[j.User], i)
		}
	}
	var means []float64
	for user := range w.Users {
		if len(jobs[user]) == 0 {
			continue
		}
		u := &r.Metrics.Users[user]
		// Half a slot counts as one, even if rounding made the share a little smaller.
		slots := int(math.Round(u.Share*float64(w.Procs) + 1e-9))
		sum := 0.0
		for k, own := range usage.OwnFinish(slots, tasks[user]) {
			end := r.last()
			if i := jobs[user][k]; r.Schedule.Started(i) {
				end = r.End(i)
			}
			late := math.Max(0, float64(end)-own)
			sum += late
			u.MaxLate = math.Max(u.MaxLate, late)
		}
		u.MeanLate = sum / float64(len(jobs[user]))
		means = append(means, u.MeanLate)
	}
	r.Metrics.Late = mean(means)
}
