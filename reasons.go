package fairlead

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// How often the reasons of waiting pools are looked at, how many pools at a time, and
// how many changes of each are kept.
const (
	reasonEvery = 2 * time.Second
	reasonPools = 2000
	reasonKept  = 200
)

// reasons remembers for what each pool has been waiting: only changes are kept, so
// that it answers "what has it been waiting for all this time?" at little cost.
type reasons struct {
	mu   sync.Mutex
	pool map[string][]waited
	last time.Time
}

// waited is a reason from when it was first seen to when it was last seen. After that the pool
// may have had nothing that waits.
type waited struct {
	Event
	until time.Time
	toll  string // "license NAME" or "rate NAME", if it is one of these that is waited for
}

// sampleReasons notes the pools whose reason for waiting has changed.
func (l *Loop) sampleReasons(now time.Time) {
	l.reasons.mu.Lock()
	defer l.reasons.mu.Unlock()
	if l.reasons.last.IsZero() {
		l.reasons.last = l.made
	}
	if now.Sub(l.reasons.last) < max(reasonEvery, l.options.LeaseTTL/8) {
		return
	}
	before := l.reasons.last
	l.reasons.last = now
	if l.reasons.pool == nil {
		l.reasons.pool = map[string][]waited{}
	}
	seen := 0
	for i := range l.core.Pools() {
		id := sched.PoolID(i)
		if l.core.View(id).Waiting == 0 || len(l.core.Children(id)) > 0 {
			continue
		}
		if seen++; seen > reasonPools {
			return
		}
		gates := l.core.PoolGates(id)
		if reason := l.reasonFor(id, gates); l.reasons.note(l.core.Path(id), reason, tollOf(gates, reason.Code), before, now) {
			l.observer.WaitsFor(reason.Code)
		}
	}
}

// tollOf is the licence or rate that a reason is about; empty for others.
func tollOf(gates []why.Gate, code why.Code) string {
	for _, g := range gates {
		if !g.Open && g.Code == code && (g.Where == "licenses" || g.Where == "rates") {
			return g.Name
		}
	}
	return ""
}

// pays reports whether a job asks for a licence or rate.
func (j *Job) pays(toll string) bool {
	kind, name, _ := strings.Cut(toll, " ")
	if kind == "rate" {
		return slices.Contains(j.Rates, name)
	}
	return j.Licenses[name] > 0
}

// note adds a reason, or to how long the last one holds, and reports whether it is new. Where the pool had nothing that waits
// when all were looked at before, the same reason begins anew.
func (r *reasons) note(pool string, reason why.Reason, toll string, before, now time.Time) (news bool) {
	past := r.pool[pool]
	if n := len(past); n > 0 && !past[n-1].until.Before(before) && past[n-1].Code == string(reason.Code) && past[n-1].Text == reason.Text && past[n-1].toll == toll {
		past[n-1].until = now
		return false
	}
	if len(past) == reasonKept {
		past = slices.Delete(past, 0, reasonKept/4)
	}
	r.pool[pool] = append(past, waited{Event{Task: -1, At: now, Code: string(reason.Code), Text: reason.Text}, now, toll})
	return true
}

// reasonFor is why jobs of a pool wait that have these gates on their way, without the numbers,
// which change all the time.
func (l *Loop) reasonFor(id sched.PoolID, gates []why.Gate) why.Reason {
	if closed := closedGates(inWords(gates)); len(closed) > 0 {
		if r := reasonsOf(closed)[0]; r.Code != why.FitNow {
			return r
		}
	}
	if at, behind := l.core.BehindAt(id); behind {
		return why.Reason{Code: why.ShareBehind, Text: "other pools go before it in " + rootName(l.core.Path(at))}
	}
	return why.Reason{Code: why.CapacityFull, Text: "the pool is next; everything is in use"}
}

// waitsCode stands for a reason that is not known.
const waitsCode = "waits"

// since returns the changes of a job's pool from its submission to its end. What is kept is why the
// first job of the pool waited: while that was a licence or rate that this job does not ask for,
// nothing is known of this one.
func (r *reasons) since(j *Job) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Event
	for _, e := range r.pool[j.Pool] {
		if e.until.Before(j.Submitted) {
			continue // what an earlier job waited for need not hold for this one
		}
		if e.At.Before(j.Submitted) {
			out = out[:0] // what was in force when it came
			e.At = j.Submitted
		} else if !j.Started.IsZero() && e.At.After(j.Started) || j.State.Ended() && e.At.After(j.Ended) {
			break
		}
		if e.Job = j.ID; e.toll != "" && !j.pays(e.toll) {
			e.Code, e.Text = waitsCode, "nothing is kept of why; the first job of its pool waited for the "+e.toll
		}
		out = append(out, e.Event)
	}
	return out
}
