package account

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
)

// Row is what there was of one month, pool, user or kind, or of a pair of these.
type Row struct {
	Month string `json:"month,omitempty" doc:"Year and month"`
	Pool  string `json:"pool,omitempty"`
	User  string `json:"user,omitempty"`
	Kind  string `json:"kind,omitempty"`

	Jobs        int64   `json:"jobs" doc:"Of which a task began, ran or ended"`
	Succeeded   int64   `json:"succeeded" doc:"Tasks that ended so"`
	Failed      int64   `json:"failed"`
	Cancelled   int64   `json:"cancelled"`
	UnitSeconds float64 `json:"unit_seconds" doc:"Time that tasks had, times the units they asked for"`
	CPUSeconds  float64 `json:"cpu_seconds" doc:"Processor time that the tasks that ended had used"`

	Started  int64   `json:"started" doc:"Tasks that started for the first time; those of jobs that waited for other jobs are left out"`
	MeanWait float64 `json:"mean_wait_seconds" doc:"From when they might have started"`
	HalfWait float64 `json:"p50_wait_seconds" doc:"Half waited at most so long"`
	MostWait float64 `json:"p95_wait_seconds" doc:"19 of 20 waited at most so long"`
	Longest  float64 `json:"max_wait_seconds"`

	// Share is that of the pool, if it was asked for and is known.
	Share    *float64 `json:"share,omitempty" doc:"Of the whole, as it was in force then: the mean, each moment weighed with what all had"`
	ShareNow bool     `json:"share_now,omitempty" doc:"Nothing is kept of that time: the share is the one in force now"`
}

type key struct{ month, pool, user, kind string }

// sums are the rows while they grow.
type sums struct {
	ask Ask
	of  map[key]*sum
}

func newSums(a Ask) *sums { return &sums{ask: a, of: map[key]*sum{}} }

type sum struct {
	Row
	waits []float32
}

func (x *sum) wait(seconds float64) { x.waits = append(x.waits, float32(seconds)) }

func (x *sum) ended(t *fairlead.Task) {
	switch t.State {
	case fairlead.Succeeded:
		x.Succeeded++
	case fairlead.Failed:
		x.Failed++
	case fairlead.Cancelled:
		x.Cancelled++
	}
	x.CPUSeconds += t.Outcome.CPU.Seconds()
}

// rows are the rows in the order of their names.
func (s *sums) rows() []Row {
	keys := slices.SortedFunc(maps.Keys(s.of), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.month, b.month), cmp.Compare(a.pool, b.pool), cmp.Compare(a.user, b.user), cmp.Compare(a.kind, b.kind))
	})
	rows := make([]Row, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, s.of[k].close())
	}
	return rows
}

// close sums the waits up.
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
	x.HalfWait, x.MostWait, x.Longest = at(0.5), at(0.95), float64(x.waits[n-1])
	return x.Row
}
