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
	mu     sync.Mutex
	pool   map[leafOf][]waited
	heads  map[leafOf][]head // the first jobs, oldest first
	last   time.Time         // last sample
	circle circle
	times  waitTimes
}

// limitOf returns the license, rate or limited user of a reason; empty for others.
func limitOf(gates []why.Gate, code why.Code) string {
	for _, g := range gates {
		if !g.Open && g.Code == code && slices.Contains([]string{"licenses", "rates", "users"}, g.Where) {
			return g.Name
		}
	}
	return ""
}

// pays reports whether a limit applies to a job: the job requests the license or rate, or belongs to the limited user.
func pays(j *queue.Job, limit string) bool {
	kind, name, _ := strings.Cut(limit, " ")
	switch kind {
	case "rate":
		return slices.Contains(j.Rates, name)
	case "running":
		return j.User == strings.TrimPrefix(name, "of ")
	}
	return j.Licenses[name] > 0
}

// note adds a reason or extends the last one, and reports whether it is new. If the pool had no waiting jobs at its
// last sample, even the same reason counts as new.
func (r *reasons) note(leaf leafOf, reason why.Reason, limit string, before, now time.Time) (news bool) {
	past := r.pool[leaf]
	if n := len(past); n > 0 && !past[n-1].until.Before(before) && past[n-1].Code == string(reason.Code) &&
		past[n-1].Text == reason.Text && past[n-1].limit == limit {
		past[n-1].until = now
		return false
	}
	past = forget(past, len(r.pool))
	r.pool[leaf] = append(past, waited{queue.Event{Task: -1, At: now, Code: string(reason.Code), Text: reason.Text}, now,
		limit})
	return true
}

// since returns the changes of reason in a job's pool from the job's submission to its end. It leaves out times in
// which the job could not have started, because it was held, waited for other jobs or its begin time, or because it had
// ended and was requeued only later. The stored reasons are the reasons of the first job. While another job was first,
// this job was behind it. While that other job waited for a license or rate that this job does not request, the reason
// of this job is unknown.
func (r *reasons) since(j *queue.Job, barred []span) []queue.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []queue.Event
	led := r.led(j)
	for _, e := range r.ofJob(j) {
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
			e.Code = waitsCode
			e.Text = "the server has no record of the reason; the first job of its pool waited for the " + e.limit
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

// leafOf names the sampled jobs: the jobs of a pool, or of one of its priorities if it has jobs of several.
type leafOf struct{ pool, priority string }

// head is a job that a sample found first in its leaf, and when.
type head struct {
	job int64
	at  time.Time
}

// lead records which job is first in a leaf. An unknown job (0) ends the time of the previous one.
func (r *reasons) lead(leaf leafOf, job int64, now time.Time) {
	past := r.heads[leaf]
	if n := len(past); n > 0 && past[n-1].job == job {
		return
	}
	r.heads[leaf] = append(forget(past, len(r.heads)), head{job, now})
}

// forget drops the oldest quarter or more of the records of a leaf if these are too many. The bound falls as the number
// of leaves grows, so that all records together do not exceed leavesKept * recordsKept by much.
func forget[T any](past []T, leaves int) []T {
	most := max(recordsKept*leavesKept/max(leaves, leavesKept), recordsLeast)
	if len(past) < most {
		return past
	}
	return slices.Delete(past, 0, len(past)-most*3/4)
}

// leaves returns the leaves that a job may have been in: that of the whole pool, for the time in which its
// jobs had one priority, and that of the job's own priority in the pool.
func leaves(j *queue.Job) []leafOf {
	return slices.Compact([]leafOf{{pool: j.Pool}, {j.Pool, j.Priority}})
}

// ofJob returns the reasons of the leaves of a job, in the order of time.
func (r *reasons) ofJob(j *queue.Job) (all []waited) {
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

// How often the reasons of waiting pools are sampled, and how many waiting pools one sample reads at most.
const (
	reasonEvery = 2 * time.Second
	reasonPools = 2000
)

// The maximum number of records of a leaf is recordsKept if there are at most leavesKept leaves. If there are more, it
// is smaller, but at least recordsLeast.
const (
	recordsKept  = 200
	recordsLeast = 20
	leavesKept   = 2000
)
