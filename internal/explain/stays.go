package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// stay is the time that a job spent in one pool. The pool is empty if no record names it.
type stay struct {
	pool string
	span
}

// stays returns the stays of a job in pools, the first one first, from the events of its moves.
func stays(j *queue.Job, events []queue.Event) (all []stay) {
	pool, to := j.Pool, ever
	for _, e := range slices.Backward(events) {
		if e.Code == string(queue.VerbMove) {
			all = append(all, stay{pool, span{e.At, to}})
			pool, to = movedFrom(e), e.At
		}
	}
	all = append(all, stay{pool, span{j.Submitted, to}})
	slices.Reverse(all)
	return all
}

// movedFrom returns the pool that a job left, or an empty string: early records of moves do not name it.
func movedFrom(e queue.Event) string {
	text, _ := strings.CutPrefix(strings.TrimPrefix(e.Text, e.Code+" "), "from ")
	from, _, named := strings.Cut(text, " to ")
	if !named {
		return ""
	}
	return from
}

// during returns a job as it was during a stay, as far as reasons depend on it.
func (s stay) during(j *queue.Job, started time.Time) *queue.Job {
	as := *j
	as.Pool, as.Submitted, as.Started = s.pool, s.from, started
	if s.to.Before(ever) && (started.IsZero() || started.After(s.to)) {
		as.Started = s.to
	}
	return &as
}

// allStarted returns when the last waiting task of a job started, or was canceled. It is zero if tasks still wait.
func allStarted(j *queue.Job, events []queue.Event) (last time.Time) {
	if j.Tasks == 1 || j.Started.IsZero() {
		return j.Started
	}
	if j.Waiting > 0 {
		return time.Time{}
	}
	for _, e := range events {
		ends := e.Code == "started" || e.Code == "queued" || e.Code == string(queue.VerbCancel)
		if ends && e.At.After(last) {
			last = e.At
		}
	}
	return last
}
