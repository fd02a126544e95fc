package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// unkept is the error of a verdict if the store has not recorded the end of an attempt and the caller must report the
// end again. The other errors of verdicts are final.
type unkept struct{ error }

func (u unkept) Unwrap() error { return u.error }

// refusesEnds reports whether an error of Finish may be about one of the results. If the store does not answer, is full
// or is closed, it would take none of them.
func refusesEnds(err error) bool {
	for _, whole := range []error{
		queue.ErrUnavailable, queue.ErrClosed, queue.ErrFull, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, whole) {
			return false
		}
	}
	return true
}

// refusedEnd is an end that the store refuses, though it takes others.
type refusedEnd struct {
	err error
	repeated
	last  time.Time // the last try
	tries int
}

// refusalOver is the time after the last try after which the worker has given up reporting the end.
const refusalOver = time.Minute

// refusedEnds are the refused ends by attempt.
type refusedEnds struct {
	log *slog.Logger
	mu  sync.Mutex
	all map[queue.Ref]*refusedEnd
}

// note records the verdicts on ends, and logs the refused ones.
func (e *refusedEnds) note(results []queue.Result, verdicts []queue.Verdict, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.all, func(_ queue.Ref, r *refusedEnd) bool { return r.over(now) })
	for i, v := range verdicts {
		ref := results[i].Ref
		if u := (unkept{}); errors.As(v.Err, &u) {
			e.refused(ref, v.Err, now)
			continue
		}
		if r := e.all[ref]; r != nil && v.Err == nil {
			e.log.Info("the store has now accepted the end of a task that it had refused", "job", ref.JobID, "task", ref.Task,
				"attempt", ref.Attempt, "after", now.Sub(r.since).Round(time.Second), "tries", r.tries)
		}
		delete(e.all, ref)
	}
}

// refused records that the store refuses an end. The caller holds the lock.
func (e *refusedEnds) refused(ref queue.Ref, err error, now time.Time) {
	r := e.all[ref]
	if r == nil {
		r = &refusedEnd{}
		e.all[ref] = r
	}
	r.err, r.last, r.tries = err, now, r.tries+1
	if !r.due(now) {
		return
	}
	e.log.Error("the store refuses the end of a task; trying again", "job", ref.JobID, "task", ref.Task,
		"attempt", ref.Attempt, "error", err, "for", now.Sub(r.since).Round(time.Second), "tries", r.tries)
}

// over reports whether the worker has given up reporting the end.
func (r *refusedEnd) over(now time.Time) bool { return now.Sub(r.last) > refusalOver }

// text describes the refused ends by the example of the oldest one; "" if there is none.
func (e *refusedEnds) text(now time.Time) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var oldest queue.Ref
	n := 0
	for ref, r := range e.all {
		if r.over(now) {
			continue
		}
		if n++; n == 1 || r.since.Before(e.all[oldest].since) {
			oldest = ref
		}
	}
	if n == 0 {
		return ""
	}
	more := ""
	if n > 1 {
		more = fmt.Sprintf(" (and %d more ends)", n-1)
	}
	return fmt.Sprintf("the store refuses the end of job %d, task %d, attempt %d%s: %v",
		oldest.JobID, oldest.Task, oldest.Attempt, more, e.all[oldest].err)
}
