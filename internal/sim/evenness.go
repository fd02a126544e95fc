package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairlead/fairlead/usage"
)

// judge adds the measures of fairness and sorts the users.
func (r *Result) judge(a *account) {
	r.addFairness(a)
	r.fairDelays(a)
	r.sumUp(a)
	slices.SortStableFunc(r.Metrics.Users, func(a, b UserMetrics) int { return cmp.Compare(b.Work, a.Work) })
}

// sumUp computes the means of the measures of fairness over the users. Each user counts once, so a user with
// many jobs does not outvote the others.
func (r *Result) sumUp(a *account) {
	m := &r.Metrics
	var had, entitled, ratios, delays []float64
	for i := range m.Users {
		u, s := &m.Users[i], &a.served.users[i]
		u.Served = s.ratio()
		if s.entitled > 0 {
			had, entitled, ratios = append(had, s.had), append(entitled, s.entitled), append(ratios, u.Served)
		}
		if u.FairJobs > 0 {
			delays = append(delays, u.FairDelay)
		}
	}
	m.Jain, m.Served, m.ServedTenth = usage.Jain(had, entitled), 1, 1
	if len(ratios) > 0 {
		m.Served, m.ServedTenth = mean(ratios), Percentile(ratios, 10)
	}
	m.FairDelay = mean(delays)
}

// fairDelays compares the starts of jobs with their fair starts. A job that never starts is late from its
// fair start to the end.
func (r *Result) fairDelays(a *account) {
	r.fairStart(a, func(job int, start int64) {
		u := &r.Metrics.Users[r.Workload.Jobs[job].User]
		really := r.last()
		if r.Schedule.Started(job) {
			really = r.Schedule.Start[job]
		}
		delay := math.Max(0, float64(really-start))
		u.FairJobs++
		u.FairDelay += delay
		u.LargestFairDelay = math.Max(u.LargestFairDelay, delay)
	})
	for i := range r.Metrics.Users {
		u := &r.Metrics.Users[i]
		u.FairDelay /= math.Max(1, float64(u.FairJobs))
	}
}
