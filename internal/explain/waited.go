package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// waited is a reason, with the instants at which it was first and last seen. After the last one the pool may have had
// no waiting jobs.
type waited struct {
	queue.Event
	until time.Time
	limit string // "license NAME", "rate NAME" or "running of USER", if the pool waits for one
}

// waitsCode is the code of an unknown reason.
const waitsCode = "waits"

// ofFirst reports whether a reason concerns only the first job. Reasons of pools, and the lack of nodes, hold back all
// jobs of a pool. For licenses and rates that are in use it returns false, because [reasons.since] checks for each job
// whether the job requests them.
func ofFirst(code why.Code) bool {
	switch code {
	case why.CapacityFull, why.FitNow, why.FitReserved, why.FitNever, why.LicenseNever, why.GateNever, why.GateJobTasks,
		why.PolicyMaint, why.PolicyReservation, why.GateReservation, why.ReservationOver:
		return true
	}
	return false
}

// Phrases of [reasonFor] that are about a pool.
const (
	poolIsNext = "the pool is next; "
	firstOfIt  = "its first job"
)

// itsOwn rewords a reason of a pool's first job as the reason of that job.
func itsOwn(e queue.Event) queue.Event {
	e.Text = strings.Replace(strings.Replace(e.Text, poolIsNext, "it is next; ", 1), firstOfIt, "it", 1)
	return e
}

// behindFirst rewords a reason of a pool's first job for a later job of the pool. The later job need not have the same
// reason: if the first job can never start, the jobs behind it do not wait for it.
func behindFirst(e queue.Event) queue.Event {
	text := strings.Replace(strings.TrimPrefix(e.Text, poolIsNext), firstOfIt, "the first of them", 1)
	switch why.Code(e.Code) {
	case why.CapacityFull, why.FitNow, why.FitReserved:
		e.Code, e.Text = string(why.OrderBehind), "behind other jobs of its pool; "+text
	default:
		e.Code, e.Text = waitsCode, "its own reason is not recorded; the reason of the first job of its pool: "+text
	}
	return e
}

// ledBy splits a reason at the times in which the job was the first. In these times the reason is the job's own.
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
	at, ends := w.At, false // ends: the job is first until the end of the reason
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

// without splits a reason at the times in which the job could not have started. It returns the instants at which the
// reason began or began again. One is the reason's own beginning, if the job could have started then. The others are
// the ends of the times in which the job could not have started, if the reason still held and the job had not started.
func (w waited) without(barred []span, started time.Time) (out []queue.Event) {
	in := func(l span) bool { return !w.At.Before(l.from) && w.At.Before(l.to) }
	if !slices.ContainsFunc(barred, in) {
		out = append(out, w.Event)
	}
	for _, l := range barred {
		if w.At.Before(l.to) && w.until.After(l.to) && (started.IsZero() || l.to.Before(started)) {
			e := w.Event
			e.At = l.to
			out = append(out, e)
		}
	}
	return out
}

// span is a time interval.
type span struct{ from, to time.Time }
