package sim

import "math"

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
	// WideWait is the mean wait of the jobs that ask for at least a quarter of the machine. Backfilling that keeps
	// no room lets the others pass these, which the means over all jobs do not show.
	WideWait    float64 `json:"mean_wait_wide"`
	LongestWait int64   `json:"longest_wait"`
	// The bounded slowdown of a job is max(1, (wait + run) / max(run, Tau)).
	MeanSlowdown float64 `json:"mean_bounded_slowdown"`
	P95Slowdown  float64 `json:"p95_bounded_slowdown"`
	OverDay      int     `json:"waited_over_a_day"`

	Stopped     int     `json:"stopped"`           // runs that ended early to make room
	LostSeconds float64 `json:"lost_proc_seconds"` // that these had

	// Served, ServedTenth and Jain are about the part of its entitlement that each user had,
	// see UserMetrics: its mean, what nine of ten users reach, and how even it is. Every user
	// counts once, however many jobs it has.
	Served      float64 `json:"served"`
	ServedTenth float64 `json:"served_p10"`
	Jain        float64 `json:"jain"`
	// FairDelay is how long after their fair starts jobs started, and Late how much later than
	// on machines of their users' own they ended: means over the users of the users' means.
	FairDelay float64 `json:"mean_fair_delay"`
	Late      float64 `json:"mean_late"`
	// IdleWanted is how much was idle although a waiting job would have fitted.
	IdleWanted float64 `json:"idle_while_demand_proc_seconds"`

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
	// Served is the part of its entitlement that the user had while it wanted something: what
	// it had above its entitlement makes up for what it lacks on the same day only.
	Served float64 `json:"served"`
	// FairDelay is by how much FairJobs of its jobs started after their fair starts.
	FairJobs         int     `json:"fair_start_jobs"`
	FairDelay        float64 `json:"mean_fair_delay_seconds"`
	LargestFairDelay float64 `json:"largest_fair_delay_seconds"`
	// What the user had, and what the ideal fluid scheduler would have given; the lag is
	// the difference at the end, above 0 if the user is behind. The largest is of any sign; of a
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
	MaxLate  float64 `json:"largest_late_seconds"`
}

// Window is a time from one second up to another.
type Window struct{ From, To int64 }

// Never is the start of a job that never started.
const Never = math.MinInt64

// Schedule says when the jobs of a workload ran.
type Schedule struct {
	Start []int64 // by job; see Started
	// Lost are the runs that ended early to make room for others. Their jobs waited again.
	Lost []Segment
}

// Started reports whether a job of the workload ran to its end.
func (s *Schedule) Started(job int) bool { return s.Start[job] != Never }

// Segment is a run of a job that did not end by itself.
type Segment struct {
	Job        int32
	Start, End int64
}

// Result is what came of a workload.
type Result struct {
	Workload *Workload
	Schedule Schedule
	Metrics  Metrics
	Series   Series
}

// Series shows a simulation over time, for charts: averages over stretches of Step
// seconds each. There are at most MaxPoints of them.
type Series struct {
	From, Step  int64
	Utilisation []float64 // of the machine
	Queue       []float64 // jobs that waited
	Wanted      []float64 // processors that these asked for, in machines
	Pools       []PoolSeries
}

// PoolSeries is what the users of one of the pools at the top had, and what they were due
// by the ideal fluid scheduler, as parts of the machine.
type PoolSeries struct {
	Name string
	Used []float64
	Due  []float64
}
