package sim

import "math"

// Metrics summarize a simulation. Times are in seconds. Jobs that never started count in Jobs and Unstarted,
// and in the measures of fairness.
type Metrics struct {
	Jobs      int `json:"jobs"`
	Unstarted int `json:"unstarted"`
	// Limits counts the effects that the time limits of pools had before the simulation.
	Limits Limited `json:"time_limits"`
	// Makespan is the time from the first submission to the last end.
	Makespan int64 `json:"makespan"`
	// Utilisation is the fraction of the machine that was in use over the makespan.
	Utilisation float64 `json:"utilisation"`

	MeanWait float64 `json:"mean_wait"`
	P50Wait  int64   `json:"p50_wait"`
	P95Wait  int64   `json:"p95_wait"`
	// WideWait is the mean wait of the jobs that ask for at least a quarter of the machine. Backfilling
	// without planned starts lets other jobs pass these wide jobs, and the means over all jobs do not show
	// that.
	WideWait    float64 `json:"mean_wait_wide"`
	LongestWait int64   `json:"longest_wait"`
	// The bounded slowdown of a job is max(1, (wait + run) / max(run, tau)).
	MeanSlowdown float64 `json:"mean_bounded_slowdown"`
	P95Slowdown  float64 `json:"p95_bounded_slowdown"`
	OverDay      int     `json:"waited_over_a_day"`

	Stopped     int     `json:"stopped"`           // runs that were stopped to make room
	LostSeconds float64 `json:"lost_proc_seconds"` // of these runs

	// Served, ServedTenth and Jain summarize UserMetrics.Served, the received part of a user's entitlement:
	// the mean, the 10th percentile, which nine of ten users reach, and the evenness. Every user counts once,
	// whatever the number of its jobs.
	Served      float64 `json:"served"`
	ServedTenth float64 `json:"served_p10"`
	Jain        float64 `json:"jain"`
	// FairDelay is the delay of jobs after their fair starts. Late is the delay of their ends after their
	// ends on a private machine of the user. Both are means, over the users, of the users' means.
	FairDelay float64 `json:"mean_fair_delay"`
	Late      float64 `json:"mean_late"`
	// IdleWanted is the idle capacity while a waiting job would have fitted.
	IdleWanted float64 `json:"idle_while_demand_proc_seconds"`

	Users []UserMetrics `json:"users"` // the users with most work first
}

// UserMetrics are the metrics of one user.
type UserMetrics struct {
	User         string   `json:"user"`
	Pools        []string `json:"pools"`
	Jobs         int      `json:"jobs"`
	Work         float64  `json:"work_proc_seconds"`
	MeanWait     float64  `json:"mean_wait"`
	P95Wait      int64    `json:"p95_wait"`
	MeanSlowdown float64  `json:"mean_bounded_slowdown"`
	OverDay      int      `json:"waited_over_a_day"`
	// Served is the part of its entitlement that the user received while it had a demand. Service above the
	// entitlement makes up for a lack only on the same day.
	Served float64 `json:"served"`
	// FairDelay is the mean delay after their fair starts of the FairJobs jobs that were evaluated.
	FairJobs         int     `json:"fair_start_jobs"`
	FairDelay        float64 `json:"mean_fair_delay_seconds"`
	LargestFairDelay float64 `json:"largest_fair_delay_seconds"`
	// Received is the user's service, and Due the service that the ideal fluid scheduler would have given.
	// Lag is the difference at the end, above 0 if the user is behind. LargestLag may have either sign; for a
	// user with several pools it is the sum over the pools.
	Received   float64 `json:"received_proc_seconds"`
	Due        float64 `json:"due_proc_seconds"`
	Lag        float64 `json:"lag_proc_seconds"`
	LargestLag float64 `json:"lag_largest_proc_seconds"`
	// Share is the user's average share of the machine while it had a demand. MeanLate is the mean delay of
	// the ends of its jobs, compared with a private machine of that size.
	Share    float64 `json:"share"`
	MeanLate float64 `json:"mean_late_seconds"`
	MaxLate  float64 `json:"largest_late_seconds"`
}

// Window is the time from one second up to another.
type Window struct{ From, To int64 }

// Never is the start of a job that never started.
const Never = math.MinInt64

// Schedule holds the times at which the jobs of a workload ran.
type Schedule struct {
	Start []int64 // by job; see Started
	// Lost holds the runs that were stopped to make room for others. Their jobs waited again.
	Lost []Segment
}

// Started reports whether a job of the workload ran to its end.
func (s *Schedule) Started(job int) bool { return s.Start[job] != Never }

// Segment is a run of a job that was stopped.
type Segment struct {
	Job        int32
	Start, End int64
}

// Result is the result of a workload.
type Result struct {
	Workload *Workload
	Schedule Schedule
	Metrics  Metrics
	Series   Series
}

// Series shows a simulation over time, for charts: averages over stretches of Step seconds each. It has at
// most MaxPoints stretches.
type Series struct {
	From, Step  int64
	Utilisation []float64 // of the machine
	Queue       []float64 // waiting jobs
	Wanted      []float64 // processors that the waiting jobs ask for, as a multiple of the machine
	Pools       []PoolSeries
}

// PoolSeries holds the service that the users of a top-level pool received, and the service that the ideal
// fluid scheduler would have given them, as fractions of the machine.
type PoolSeries struct {
	Name string
	Used []float64
	Due  []float64
}
