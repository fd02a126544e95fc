package explain

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// reasons remembers why each pool has been waiting. It keeps only changes, so
// that it costs little to say why a pool waited all this time.
type reasons struct {
	mu   sync.Mutex
	pool map[string][]waited
	last time.Time
}

// waited is a reason from when it was first seen to when it was last seen. After that the pool
// may have had nothing that waits.
type waited struct {
	queue.Event
	until time.Time
	limit string // "license NAME" or "rate NAME", if it is one of these that is waited for
}

// limitOf is the licence or rate that a reason is about; empty for others.
func limitOf(gates []why.Gate, code why.Code) string {
	for _, g := range gates {
		if !g.Open && g.Code == code && (g.Where == "licenses" || g.Where == "rates") {
			return g.Name
		}
	}
	return ""
}

// pays reports whether a job asks for a licence or rate.
func pays(j *queue.Job, limit string) bool {
	kind, name, _ := strings.Cut(limit, " ")
	if kind == "rate" {
		return slices.Contains(j.Rates, name)
	}
	return j.Licenses[name] > 0
}

// note adds a reason, or to how long the last one holds, and reports whether it is new. Where the pool had nothing
// that waits
// when all were looked at before, the same reason begins anew.
func (r *reasons) note(pool string, reason why.Reason, limit string, before, now time.Time) (news bool) {
	past := r.pool[pool]
	if n := len(past); n > 0 && !past[n-1].until.Before(before) && past[n-1].Code == string(reason.Code) &&
		past[n-1].Text == reason.Text && past[n-1].limit == limit {
		past[n-1].until = now
		return false
	}
	if len(past) == reasonKept {
		past = slices.Delete(past, 0, reasonKept/4)
	}
	r.pool[pool] = append(past, waited{queue.Event{Task: -1, At: now, Code: string(reason.Code), Text: reason.Text}, now,
		limit})
	return true
}

// waitsCode stands for a reason that is not known.
const waitsCode = "waits"

// since returns the changes of a job's pool from its submission to its end, but for times in which the job
// could not have started: it was held, waited for others or its time, or was in a former life. What is kept is why
// the first job of the pool waited: while that was a licence or rate that this
// job does not ask for, nothing is known of this one.
func (r *reasons) since(j *queue.Job, barred []span) []queue.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []queue.Event
	for _, e := range r.pool[j.Pool] {
		if e.until.Before(j.Submitted) {
			continue // what an earlier job waited for need not hold for this one
		}
		if e.At.Before(j.Submitted) {
			out = out[:0] // the reason that held when it came
			e.At = j.Submitted
		} else if !j.Started.IsZero() && e.At.After(j.Started) || j.State.Ended() && e.At.After(j.Ended) {
			break
		}
		if e.Job = j.ID; e.limit != "" && !pays(j, e.limit) {
			e.Code, e.Text = waitsCode, "nothing is kept of why; the first job of its pool waited for the "+e.limit
		}
		out = append(out, e.without(barred, j.Started)...)
	}
	return out
}

// without are a reason's beginnings: its own, unless a job could not have started then, and the end of each
// such time in which it held still and the job had not started.
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

// span is a time.
type span struct{ from, to time.Time }

// How often the reasons of waiting pools are looked at, how many pools at a time, and
// how many changes of each are kept.
const (
	reasonEvery = 2 * time.Second
	reasonPools = 2000
	reasonKept  = 200
)
