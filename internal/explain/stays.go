package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// stay is the time that a job spent in one pool with one priority. The pool or the priority is empty if no record names
// it.
type stay struct {
	leafOf
	span
}

// stays returns the stays of a job, the first one first, from the events of its moves and of its changes of priority.
func stays(j *queue.Job, events []queue.Event) (all []stay) {
	leaf, to := leafOf{j.Pool, j.Priority}, ever
	for _, e := range slices.Backward(events) {
		before := leaf
		switch queue.Verb(e.Code) {
		case queue.VerbMove:
			before.pool = changedFrom(e)
		case queue.VerbPrioritise:
			if before.priority = changedFrom(e); before.priority == "" && keepsPriority(e) {
				before.priority = leaf.priority
			}
		}
		if before != leaf {
			all = append(all, stay{leaf, span{e.At, to}})
			leaf, to = before, e.At
		}
	}
	all = append(all, stay{leaf, span{j.Submitted, to}})
	slices.Reverse(all)
	return all
}

// changedFrom returns the pool or priority that a job had before a change, or an empty string: the records of early
// versions do not name it.
func changedFrom(e queue.Event) string {
	from, _, named := strings.Cut(changed(e), " to ")
	from, is := strings.CutPrefix(from, "from ")
	if !named || !is {
		return ""
	}
	return from
}

// keepsPriority reports whether a change of priority only set the QOS or the nice value of a job.
func keepsPriority(e queue.Event) bool {
	return strings.HasPrefix(changed(e), "qos ") || strings.HasPrefix(changed(e), "nice ")
}

// changed is the text of a change without its verb.
func changed(e queue.Event) string { return strings.TrimPrefix(e.Text, e.Code+" ") }

// during returns a job as it was during a stay, as far as reasons depend on it.
func (s stay) during(j *queue.Job, started time.Time) *queue.Job {
	as := *j
	as.Pool, as.Priority, as.Submitted, as.Started = s.pool, s.priority, s.from, started
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
