package sim

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/sched"
)

// The events of a job in the order in which a second handles them: room is freed before it is taken, and a
// job of no length ends after its start.
const (
	happensEnd = iota
	happensSubmit
	happensStart
	happensEndAtOnce
)

type happening struct {
	at   int64
	what int8
	job  int32
}

// Measured measures a workload that something other than the scheduler ran, from the second in which each job
// started, or [Never]. The entitlement of each user follows from the configuration.
func Measured(w *Workload, cfg sched.Config, start []int64) (*Result, error) {
	r := &Result{Workload: w, Schedule: Schedule{Start: start}}
	r.measure()
	a, err := newAccount(w, cfg, w.Zero)
	if err != nil {
		return nil, err
	}
	var all []happening
	for i := range w.Jobs {
		j := &w.Jobs[i]
		end := happening{start[i] + j.Run, happensEnd, int32(i)}
		if j.Run == 0 {
			end.what = happensEndAtOnce
		}
		all = append(all, happening{j.Submit, happensSubmit, int32(i)})
		if r.Schedule.Started(i) {
			all = append(all, happening{start[i], happensStart, int32(i)}, end)
		}
	}
	slices.SortFunc(all, func(a, b happening) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what), cmp.Compare(a.job, b.job))
	})
	last := int64(0)
	for i, h := range all {
		switch h.what {
		case happensSubmit:
			a.submit(int(h.job))
		case happensStart:
			a.start(int(h.job))
		default:
			a.end(int(h.job))
		}
		if last = h.at; i+1 == len(all) || all[i+1].at != h.at {
			a.settle(h.at)
		}
	}
	a.close(last)
	r.judge(a)
	r.Series = a.series()
	return r, nil
}
