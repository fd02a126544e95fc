package sim

import (
	"time"

	"github.com/fairlead/fairlead/share"
)

// Limit gives the jobs without a time limit the default of their pool, at which they end, and removes the jobs that ask
// for more than their pool allows. A server does the same when jobs are submitted. If the flag "extend" is set, a job
// that ran for longer than the default gets its run time as its limit.
func (w *Workload) Limit(root *share.Pool, extend bool) {
	times := w.times(root)
	kept := w.Jobs[:0]
	for _, j := range w.Jobs {
		switch t := &times[j.Pool]; {
		case j.NoLimit:
			w.Limits.give(&j, t, extend)
		case t.Max > 0 && j.Estimate > seconds(t.Max):
			w.Limits.Refused++
			continue
		}
		kept = append(kept, j)
	}
	w.Jobs = kept
}

// Plan gives the jobs without a time limit the default of their pool, for plans only: jobs run for as long as
// they did, and other jobs keep their limits. The same holds for jobs that were submitted before a change.
func (w *Workload) Plan(root *share.Pool) {
	times := w.times(root)
	for i := range w.Jobs {
		if j := &w.Jobs[i]; j.NoLimit {
			w.Limits.give(j, &times[j.Pool], true)
		}
	}
}

// times returns the time limits of the pools of the workload.
func (w *Workload) times(root *share.Pool) []share.Times {
	times := make([]share.Times, len(w.Pools))
	for i, path := range w.Pools {
		times[i] = root.Times(path)
	}
	return times
}

// give gives a job the default of its pool, if there is one.
func (l *Limited) give(j *Job, t *share.Times, extend bool) {
	limit := seconds(t.Default())
	if limit == 0 {
		return
	}
	l.Given++
	j.NoLimit, j.Estimate = false, limit
	switch {
	case j.Run > limit && extend:
		j.Estimate = j.Run
	case j.Run > limit:
		l.Ended++
		j.Run = limit
	}
}

// seconds returns the whole seconds of a limit, and at least one if there is a limit.
func seconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return max(1, int64(d/time.Second))
}
