package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// leafOf names the sampled jobs: those of a pool, or of one of its priorities if it has jobs of several.
type leafOf struct{ pool, priority string }

// head is a job that a sample found first in its leaf, and when.
type head struct {
	job int64
	at  time.Time
}

// headsKept is how many first jobs of each leaf are kept: enough for the jobs that wait now and those that began
// lately.
const headsKept = 256

// lead records which job is first in a leaf. A job that is unknown (0) ends the time of the one before.
func (r *reasons) lead(leaf leafOf, job int64, now time.Time) {
	past := r.heads[leaf]
	if n := len(past); n > 0 && past[n-1].job == job {
		return
	}
	if len(past) == headsKept {
		past = slices.Delete(past, 0, headsKept/4)
	}
	r.heads[leaf] = append(past, head{job, now})
}

// leaves returns the leaves that a job may have been in: the pool, while its jobs had one priority, and the priority.
func leaves(j *queue.Job) []leafOf {
	return slices.Compact([]leafOf{{pool: j.Pool}, {j.Pool, j.Priority}})
}

// of returns the reasons of the leaves of a job, in the order of time.
func (r *reasons) of(j *queue.Job) (all []waited) {
	for _, leaf := range leaves(j) {
		all = append(all, r.pool[leaf]...)
	}
	slices.SortStableFunc(all, func(a, b waited) int { return a.At.Compare(b.At) })
	return all
}

// led returns the times in which a job was the first of its leaf, in their order; the last may be without an end.
func (r *reasons) led(j *queue.Job) (all []span) {
	for _, leaf := range leaves(j) {
		past := r.heads[leaf]
		for i, h := range past {
			if h.job != j.ID {
				continue
			}
			s := span{from: h.at}
			if i+1 < len(past) {
				s.to = past[i+1].at
			}
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	return all
}

// ofFirst reports whether a reason is that of the first job alone; the reasons of pools and the lack of nodes hold back
// all jobs of a pool. Licenses and rates are compared job by job.
func ofFirst(code why.Code) bool {
	switch code {
	case why.CapacityFull, why.FitNow, why.FitReserved, why.FitNever, why.LicenseNever, why.GateNever, why.GateJobTasks,
		why.PolicyMaint, why.PolicyReservation, why.GateReservation, why.ReservationOver:
		return true
	}
	return false
}

// Phrases of [reasonFor], which are about a pool.
const (
	poolIsNext = "the pool is next; "
	firstOfIt  = "its first job"
)

// itsOwn rewords a reason of a pool's first job as the reason of that job.
func itsOwn(e queue.Event) queue.Event {
	e.Text = strings.Replace(strings.Replace(e.Text, poolIsNext, "it is next; ", 1), firstOfIt, "it", 1)
	return e
}

// behindFirst rewords a reason of a pool's first job for a job behind that. The job need not have the same reason: of
// a request that can never start, others do not wait for the end.
func behindFirst(e queue.Event) queue.Event {
	text := strings.Replace(strings.TrimPrefix(e.Text, poolIsNext), firstOfIt, "the first of them", 1)
	switch why.Code(e.Code) {
	case why.CapacityFull, why.FitNow, why.FitReserved:
		e.Code, e.Text = string(why.OrderBehind), "behind other jobs of its pool; "+text
	default:
		e.Code, e.Text = waitsCode, "its own reason is not recorded; that of the first job of its pool: "+text
	}
	return e
}

// ledBy splits a reason at the times in which the job was the first: then the reason is its own.
func (w waited) ledBy(led []span) (out []waited) {
	if !ofFirst(why.Code(w.Code)) {
		return []waited{w}
	}
	part := func(from, to time.Time, own bool) {
		p := w
		p.At, p.until = from, to
		if p.Event = behindFirst(p.Event); own {
			p.Event = itsOwn(w.Event)
			p.At = from
		}
		out = append(out, p)
	}
	at, ends := w.At, false // ends: an own part lasts to the end of the reason
	for _, s := range led {
		if s.from.After(w.until) || !s.to.IsZero() && !s.to.After(at) {
			continue
		}
		if s.from.After(at) {
			part(at, s.from, false)
			at = s.from
		}
		end := w.until
		if ends = s.to.IsZero() || s.to.After(end); !ends {
			end = s.to
		}
		part(at, end, true)
		at = end
	}
	if !ends {
		part(at, w.until, false)
	}
	return out
}
