package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairlead/fairlead/usage"
)

// Metrics sum a simulation up. Times are in seconds. Jobs that never started count in
// Jobs and Unstarted only.
type Metrics struct {
	Jobs      int `json:"jobs"`
	Unstarted int `json:"unstarted"`
	// Limits is what the time limits of pools did before.
	Limits Limited `json:"time_limits"`
	// Makespan is from the first submission to the last end.
	Makespan int64 `json:"makespan"`
	// Utilisation is the part of the machine that was in use over the makespan.
	Utilisation float64 `json:"utilisation"`

	MeanWait float64 `json:"mean_wait"`
	P50Wait  int64   `json:"p50_wait"`
	P95Wait  int64   `json:"p95_wait"`
	// The bounded slowdown of a job is max(1, (wait + run) / max(run, Tau)).
	MeanSlowdown float64 `json:"mean_bounded_slowdown"`
	P95Slowdown  float64 `json:"p95_bounded_slowdown"`
	OverDay      int     `json:"waited_over_a_day"`

	Stopped     int     `json:"stopped"`           // runs that ended early to make room
	LostSeconds float64 `json:"lost_proc_seconds"` // that these had

	// Jain is the index of what each user had over what it was due.
	Jain float64 `json:"jain"`
	// IdleWanted is how much was idle although a waiting job would have fitted.
	IdleWanted float64 `json:"idle_while_demand_proc_seconds"`
	// Worst is the user who was owed most at the end.
	Worst    string  `json:"worst_user"`
	WorstLag float64 `json:"worst_lag_proc_seconds"`

	Users []UserMetrics `json:"users"` // those with most work first
}

// UserMetrics are those of one user.
type UserMetrics struct {
	User         string   `json:"user"`
	Pools        []string `json:"pools"`
	Jobs         int      `json:"jobs"`
	Work         float64  `json:"work_proc_seconds"`
	MeanWait     float64  `json:"mean_wait"`
	P95Wait      int64    `json:"p95_wait"`
	MeanSlowdown float64  `json:"mean_bounded_slowdown"`
	OverDay      int      `json:"waited_over_a_day"`
	// What the user had, and what the ideal fluid scheduler would have given; the lag is
	// the difference at the end, above 0 if the user is owed. The largest is of any sign; of a
	// user with several pools, those of the pools are added up.
	Received   float64 `json:"received_proc_seconds"`
	Due        float64 `json:"due_proc_seconds"`
	Lag        float64 `json:"lag_proc_seconds"`
	LargestLag float64 `json:"lag_largest_proc_seconds"`
	// Share is the part of the machine that was the user's on average while it wanted
	// something; Late is by how much its jobs ended later on average than on a machine of
	// its own of that size.
	Share    float64 `json:"share"`
	MeanLate float64 `json:"mean_late_seconds"`
	MostLate float64 `json:"largest_late_seconds"`
}

// Tau bounds slowdowns: jobs that run for less count as if they ran so long, in seconds.
const Tau = 10

const day = 24 * 60 * 60

// Wait is how long a job that started waited for its last start.
func (r *Result) Wait(job int) int64 { return r.Schedule.Start[job] - r.Workload.Jobs[job].Submit }

// End is when a job that started ended.
func (r *Result) End(job int) int64 { return r.Schedule.Start[job] + r.Workload.Jobs[job].Run }

// Slowdown is the bounded slowdown of a job that started.
func (r *Result) Slowdown(job int) float64 {
	run := r.Workload.Jobs[job].Run
	return max(1, float64(r.Wait(job)+run)/float64(max(run, Tau)))
}

// sample gathers the waits and slowdowns of some jobs.
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
	s.slowdowns = append(s.slowdowns, r.Slowdown(job))
	if wait > day {
		s.overDay++
	}
}

// measure computes what follows from the schedule alone.
func (r *Result) measure() {
	w, m := r.Workload, &r.Metrics
	var all sample
	users := make([]sample, len(w.Users))
	last := w.Jobs[0].Submit
	for i := range w.Jobs {
		users[w.Jobs[i].User].jobs++
		if !r.Schedule.Started(i) {
			m.Unstarted++
			continue
		}
		last = max(last, r.End(i))
		all.add(r, i)
		users[w.Jobs[i].User].add(r, i)
	}
	m.Limits = w.Limits
	m.Jobs, m.Makespan, m.OverDay = len(w.Jobs), last-w.Jobs[0].Submit, all.overDay
	if m.Makespan > 0 {
		m.Utilisation = all.work / (float64(w.Procs) * float64(m.Makespan))
	}
	m.MeanWait, m.MeanSlowdown = mean(all.waits), mean(all.slowdowns)
	m.P50Wait, m.P95Wait, m.P95Slowdown = Percentile(all.waits, 50), Percentile(all.waits, 95), Percentile(all.slowdowns, 95)
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

// mean is 0 of nothing.
func mean[T int64 | float64](values []T) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return sum / math.Max(1, float64(len(values)))
}

// Percentile is the smallest value that so many of a hundred do not exceed ("nearest
// rank"); it sorts the values. Of nothing it is 0.
func Percentile[T cmp.Ordered](values []T, percent int) (value T) {
	if len(values) == 0 {
		return value
	}
	slices.Sort(values)
	return values[(len(values)*percent+99)/100-1]
}

// addFairness adds what the account of fairness says, and puts the users in order.
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
	received, due := make([]float64, len(m.Users)), make([]float64, len(m.Users))
	for i := range m.Users {
		u := &m.Users[i]
		received[i], due[i] = u.Received, u.Due
		u.Share = shares[i] / math.Max(1, float64(a.users[i].busy))
		if m.Worst == "" || u.Lag > m.WorstLag {
			m.Worst, m.WorstLag = u.User, u.Lag
		}
	}
	m.Jain, m.IdleWanted = usage.Jain(received, due), a.fair.IdleTotal()
	r.lateness()
	slices.SortStableFunc(m.Users, func(a, b UserMetrics) int { return cmp.Compare(b.Work, a.Work) })
}

// lateness compares the end of each job with the one that it would have had on a machine
// of its user's own: see [usage.OwnFinish].
func (r *Result) lateness() {
	w := r.Workload
	tasks, jobs := make([][]usage.OwnTask, len(w.Users)), make([][]int, len(w.Users))
	for i, j := range w.Jobs {
		if r.Schedule.Started(i) {
			tasks[j.User] = append(tasks[j.User], usage.OwnTask{Submit: float64(j.Submit), Length: float64(j.Run), Width: int(j.Procs)})
			jobs[j.User] = append(jobs[j.User], i)
		}
	}
	for user := range w.Users {
		u := &r.Metrics.Users[user]
		slots := int(math.Round(u.Share * float64(w.Procs)))
		sum := 0.0
		for k, own := range usage.OwnFinish(slots, tasks[user]) {
			late := math.Max(0, float64(r.End(jobs[user][k]))-own)
			sum += late
			u.MostLate = math.Max(u.MostLate, late)
		}
		u.MeanLate = sum / math.Max(1, float64(len(jobs[user])))
	}
}
