package explain

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// reasons records why each pool waits. It stores only changes, so that a long wait costs little.
type reasons struct {
	mu    sync.Mutex
	pool  map[leafOf][]waited
	heads map[leafOf][]head // the first jobs, oldest first
	last  time.Time
}

// waited is a reason, from when it was first seen to when it was last seen. After that the pool may have had no waiting
// jobs.
type waited struct {
	queue.Event
	until time.Time
	limit string // "license NAME" or "rate NAME", if the pool waits for one
}

// limitOf returns the license or rate of a reason; empty for others.
func limitOf(gates []why.Gate, code why.Code) string {
	for _, g := range gates {
		if !g.Open && g.Code == code && (g.Where == "licenses" || g.Where == "rates") {
			return g.Name
		}
	}
	return ""
}

// pays reports whether a job requests a license or rate.
func pays(j *queue.Job, limit string) bool {
	kind, name, _ := strings.Cut(limit, " ")
	if kind == "rate" {
		return slices.Contains(j.Rates, name)
	}
	return j.Licenses[name] > 0
}

// note adds a reason or extends the last one, and reports whether it is new. If the pool had no waiting jobs when all
// pools were last sampled, the same reason begins anew.
func (r *reasons) note(leaf leafOf, reason why.Reason, limit string, before, now time.Time) (news bool) {
	past := r.pool[leaf]
	if n := len(past); n > 0 && !past[n-1].until.Before(before) && past[n-1].Code == string(reason.Code) &&
		past[n-1].Text == reason.Text && past[n-1].limit == limit {
		past[n-1].until = now
		return false
	}
	if len(past) == reasonKept {
		past = slices.Delete(past, 0, reasonKept/4)
	}
	r.pool[leaf] = append(past, waited{queue.Event{Task: -1, At: now, Code: string(reason.Code), Text: reason.Text}, now,
		limit})
	return true
}

// waitsCode is the code of an unknown reason.
const waitsCode = "waits"

// since returns the changes of reason in a job's pool from the job's submission to its end. It leaves out times in
// which the job could not have started: it was held, waited for others or its begin time, or was in a former life. The
// stored reasons are those of the first job. While another one was first, this job was behind it; while that waited
// for a license or rate that this job does not request, the reason of this job is unknown.
func (r *reasons) since(j *queue.Job, barred []span) []queue.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []queue.Event
	led := r.led(j)
	for _, e := range r.of(j) {
		if e.until.Before(j.Submitted) {
			continue // another job's reason need not apply to this one
		}
		if e.At.Before(j.Submitted) {
			out = out[:0] // the reason at its submission
			e.At = j.Submitted
		} else if !j.Started.IsZero() && e.At.After(j.Started) || j.State.Ended() && e.At.After(j.Ended) {
			break
		}
		if e.Job = j.ID; e.limit != "" && !pays(j, e.limit) {
			e.Code, e.Text = waitsCode, "nothing is kept of why; the first job of its pool waited for the "+e.limit
		}
		for _, part := range e.ledBy(led) {
			if again := len(out) > 0 && part.Code == string(why.OrderBehind) && out[len(out)-1].Code == part.Code &&
				out[len(out)-1].Text == part.Text; again || !j.Started.IsZero() && part.At.After(j.Started) {
				continue
			}
			out = append(out, part.without(barred, j.Started)...)
		}
	}
	return out
}

// without returns the beginnings of a reason: its own, unless the job could not have started then, and the end of each
// such time at which the reason still held and the job had not started.
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

// How often the reasons of waiting pools are sampled, how many pools at a time, and how many changes of each pool are
// kept.
const (
	reasonEvery = 2 * time.Second
	reasonPools = 2000
	reasonKept  = 200
)
