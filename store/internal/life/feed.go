package life

import (
	"fmt"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// The changes are kept in chunks, and about the last keep of them for those who are
// behind.
const (
	feedChunk = 1024
	keep      = 32 * feedChunk
)

// Feed keeps the latest changes in order and wakes whoever waits for them. Its
// caller sees to it that Add, Cursor and After do not overlap.
type Feed struct {
	first  int64 // cursor before the first change
	count  int64
	chunks [][]fairlead.Change // all but the last are full

	mu      sync.Mutex
	waiters map[chan<- struct{}]bool
}

// Add appends a change and wakes the waiters.
func (f *Feed) Add(c fairlead.Change) {
	f.Append(c)
	f.Wake()
}

// Append appends a change of which the waiters are told otherwise.
func (f *Feed) Append(c fairlead.Change) {
	last := len(f.chunks) - 1
	if last < 0 || len(f.chunks[last]) == feedChunk {
		f.chunks = append(f.chunks, make([]fairlead.Change, 0, feedChunk))
		last++
	}
	f.chunks[last] = append(f.chunks[last], c)
	if f.count++; f.count > keep+feedChunk {
		f.chunks[0] = nil
		f.chunks = f.chunks[1:]
		f.first += feedChunk
		f.count -= feedChunk
	}
}

// Wake wakes the waiters.
func (f *Feed) Wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.waiters {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Cursor is the place after the last change.
func (f *Feed) Cursor() int64 { return f.first + f.count }

// After returns up to most changes after a cursor, all if most is 0.
func (f *Feed) After(cursor int64, most int) ([]fairlead.Change, int64, error) {
	if cursor < f.first || cursor > f.Cursor() {
		return nil, 0, fairlead.ErrBehind
	}
	n := int(f.Cursor() - cursor)
	if most > 0 {
		n = min(n, most)
	}
	out := make([]fairlead.Change, 0, n)
	for at := int(cursor - f.first); len(out) < n; at = (at/feedChunk + 1) * feedChunk {
		rest := f.chunks[at/feedChunk][at%feedChunk:]
		out = append(out, rest[:min(len(rest), n-len(out))]...)
	}
	return out, cursor + int64(n), nil
}

// Notify registers a waiter.
func (f *Feed) Notify(c chan<- struct{}) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiters == nil {
		f.waiters = map[chan<- struct{}]bool{}
	}
	f.waiters[c] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.waiters, c)
	}
}

// AddWaits counts one more task that waits until begin.
func AddWaits(w []fairlead.Waits, begin time.Time) []fairlead.Waits {
	for i := range w {
		if w[i].Begin.Equal(begin) {
			w[i].Tasks++
			return w
		}
	}
	return append(w, fairlead.Waits{Tasks: 1, Begin: begin})
}

// NewLease is the lease of a task that was just leased.
func NewLease(j *fairlead.Job, t *fairlead.Task) *fairlead.Lease {
	return &fairlead.Lease{Ref: Ref(t), Job: j, Number: t.Number, Holder: t.Holder, Started: t.Started, Until: t.Until}
}

// Run is a running task as a change tells it.
func Run(t *fairlead.Task) fairlead.Run {
	return fairlead.Run{Ref: Ref(t), Holder: t.Holder, Started: t.Started, Queued: t.Queued, Charge: t.Charge}
}

// RunsChanges tell in a snapshot of the tasks of a job that run, and which of them have
// to be stopped.
func RunsChanges(j *fairlead.Job, tasks []fairlead.Task, now time.Time) []fairlead.Change {
	change := func(what fairlead.What, reason string) fairlead.Change {
		return fairlead.Change{What: what, Job: Header(j), State: j.State, Reason: reason, At: now}
	}
	runs, requeued, stopped := change(fairlead.Runs, ""), change(fairlead.Stop, "requeued"), change(fairlead.Stop, stoppedEarlier)
	apart := change(fairlead.Stop, apartEarlier)
	if j.Cancel {
		requeued.Reason = j.Cause
	}
	for i := range tasks {
		t := &tasks[i]
		runs.Runs = append(runs.Runs, Run(t))
		switch {
		case j.Cancel || t.Requeue:
			requeued.Runs = append(requeued.Runs, Run(t))
		case t.Stopped:
			stopped.Runs = append(stopped.Runs, Run(t))
		case Apart(j):
			apart.Runs = append(apart.Runs, Run(t))
		}
	}
	all := []fairlead.Change{runs}
	for _, c := range []fairlead.Change{requeued, stopped, apart} {
		if len(c.Runs) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// LostChange tells of an attempt whose holder disappeared.
func LostChange(j *fairlead.Job, t *fairlead.Task, ref fairlead.Ref, now time.Time) fairlead.Change {
	return fairlead.Change{
		What: fairlead.Lost, Job: Header(j), State: j.State, Reason: "agent lost", At: now,
		Runs: []fairlead.Run{{Ref: ref, Holder: t.Holder, Started: t.Started}},
	}
}

// LostEvent is its entry in the job's history.
func LostEvent(t *fairlead.Task, again bool, now time.Time) fairlead.Event {
	text := fmt.Sprintf("attempt %d lost with %s", t.Attempt, t.Holder)
	if again {
		text += "; it waits again"
	}
	return fairlead.Event{Job: t.Job, Task: t.Index, At: now, Code: "lost", Text: text}
}

// AgainEvent is the entry of an attempt that ended, and whose task waits again: the
// task itself remembers its last attempt only.
func AgainEvent(t *fairlead.Task, o fairlead.Outcome, now time.Time) fairlead.Event {
	text := fmt.Sprintf("attempt %d on %s %s", t.Attempt, t.Holder, o.State)
	switch {
	case o.Signal != "":
		text += " (" + o.Signal + ")"
	case o.ExitCode != 0:
		text += fmt.Sprintf(" (exit %d)", o.ExitCode)
	}
	if o.Cause != "" {
		text += ": " + o.Cause
	}
	if wait := t.Begin.Sub(now).Round(time.Second); wait > 0 {
		text += fmt.Sprintf("; the next follows in %v", wait)
	}
	return fairlead.Event{Job: t.Job, Task: t.Index, At: now, Code: "again", Text: text}
}

// AlterEvent is the entry of an alteration in the job's history.
func AlterEvent(a fairlead.Alteration, now time.Time) fairlead.Event {
	text := string(a.Verb)
	if a.Verb == fairlead.VerbPrioritise {
		if a.Priority != "" {
			text += " " + a.Priority
		}
		if a.QOS != nil {
			text += fmt.Sprintf(" qos %q", *a.QOS)
		}
		if a.Nice != nil {
			text += fmt.Sprintf(" nice %d", *a.Nice)
		}
	}
	if a.Verb == fairlead.VerbMove {
		text += " to " + a.Pool
	}
	if a.Cause != "" {
		text += ": " + a.Cause
	}
	return fairlead.Event{Job: a.Job, Task: -1, At: now, Code: string(a.Verb), Text: text}
}

// Allowed says why an alteration does not go with the state of a job.
func Allowed(j *fairlead.Job, a fairlead.Alteration) error {
	no := func(why string) error {
		return fmt.Errorf("job %d %s: %w", j.ID, why, fairlead.ErrState)
	}
	ended := j.State.Ended()
	switch a.Verb {
	case fairlead.VerbCancel, fairlead.VerbHold, fairlead.VerbPrioritise:
		if ended {
			return no("has ended (" + string(j.State) + ")")
		}
		if a.Verb == fairlead.VerbHold && j.Held {
			return no("is held already")
		}
		if a.Verb != fairlead.VerbCancel && j.Cancel {
			return no("is being cancelled")
		}
	case fairlead.VerbMove:
		switch {
		case ended:
			return no("has ended (" + string(j.State) + ")")
		case j.Running > 0:
			return no("runs: only a job of which no task runs goes to another pool")
		}
	case fairlead.VerbRelease:
		if !j.Held {
			return no("is not held")
		}
	case fairlead.VerbRequeue:
		if !ended && j.Running == 0 {
			return no("waits already")
		}
		if j.Cancel && !ended {
			return no("is being cancelled")
		}
	default:
		return &fairlead.Invalid{Field: "verb", Msg: fmt.Sprintf("%q is not known", a.Verb)}
	}
	return nil
}

// Forget drops all changes: whoever has a cursor is behind.
func (f *Feed) Forget() {
	f.first += f.count + 1
	f.count, f.chunks = 0, nil
}
