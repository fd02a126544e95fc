package account

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Row holds the sums of one month, pool, user or kind, or of a combination of these.
type Row struct {
	Month string `json:"month,omitempty" doc:"Year and month"`
	Pool  string `json:"pool,omitempty"`
	User  string `json:"user,omitempty"`
	Kind  string `json:"kind,omitempty"`

	Jobs        int64   `json:"jobs" doc:"Jobs with a task that began, ran or ended"`
	Succeeded   int64   `json:"succeeded" doc:"Tasks that succeeded"`
	Failed      int64   `json:"failed"`
	Cancelled   int64   `json:"cancelled"`
	UnitSeconds float64 `json:"unit_seconds" doc:"Run time of tasks, times the units that they asked for"`
	CPUSeconds  float64 `json:"cpu_seconds" doc:"Processor time of the tasks that ended"`

	Started  int64   `json:"started" doc:"Tasks that started for the first time; those of jobs that waited for other jobs are left out"`
	MeanWait float64 `json:"mean_wait_seconds" doc:"From when the tasks could have started"`
	P50Wait  float64 `json:"p50_wait_seconds" doc:"Median of waits"`
	P95Wait  float64 `json:"p95_wait_seconds" doc:"95th percentile of waits"`
	MaxWait  float64 `json:"max_wait_seconds"`

	// Share is the share of the pool, if it was requested and is known.
	Share    *float64 `json:"share,omitempty" doc:"Share of the cluster at that time: the mean, weighted by the usage of all pools"`
	ShareNow bool     `json:"share_now,omitempty" doc:"The server has no record of that time: this is the present share"`
}

// ByMonth adds up the unit-seconds of the rows of each month; rows without months are one month.
func ByMonth(rows []Row) map[string]float64 {
	all := map[string]float64{}
	for i := range rows {
		all[rows[i].Month] += rows[i].UnitSeconds
	}
	return all
}

type sum struct {
	Row
	waits []float32
}

func (x *sum) wait(seconds float64) { x.waits = append(x.waits, float32(seconds)) }

func (x *sum) ended(t *queue.Task) {
	switch t.State {
	case queue.Succeeded:
		x.Succeeded++
	case queue.Failed:
		x.Failed++
	case queue.Cancelled:
		x.Cancelled++
	}
	x.CPUSeconds += t.Outcome.CPU.Seconds()
}

// close returns the row with the statistics of its waits.
func (x *sum) close() Row {
	n := len(x.waits)
	if n == 0 {
		return x.Row
	}
	slices.Sort(x.waits)
	total := 0.0
	for _, w := range x.waits {
		total += float64(w)
	}
	at := func(part float64) float64 { return float64(x.waits[min(n-1, max(0, int(part*float64(n)+0.999999)-1))]) }
	x.Started, x.MeanWait = int64(n), total/float64(n)
	x.P50Wait, x.P95Wait, x.MaxWait = at(0.5), at(0.95), float64(x.waits[n-1])
	return x.Row
}

// upTo counts the waits up to each step and above the step before.
func (x *sum) upTo(steps []time.Duration) []int64 {
	out := make([]int64, len(steps))
	for _, w := range x.waits {
		for i, s := range steps {
			if float64(w) <= s.Seconds() {
				out[i]++
				break
			}
		}
	}
	return out
}
