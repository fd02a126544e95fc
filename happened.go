package fairlead

import (
	"cmp"
	"context"
	"slices"
	"strconv"
)

// History returns what happened to a job, oldest first.
func (l *Loop) History(ctx context.Context, id int64) ([]Event, error) {
	j, err := l.client.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	tasks, err := l.store.Tasks(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.HistoryOf(ctx, j, tasks)
}

// HistoryOf is History for one who has read the job and its tasks already: there may be many.
func (l *Loop) HistoryOf(ctx context.Context, j *Job, tasks []Task) ([]Event, error) {
	events := []Event{{Job: j.ID, Task: -1, At: j.Submitted, Code: "submitted", Text: "by " + j.User + " into " + j.Pool}}
	if k, ok := l.store.(Journal); ok {
		more, err := k.Events(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		events = append(events, more...)
	}
	for i, e := range events {
		if at, found := slices.BinarySearchFunc(tasks, e.Task, func(t Task, index int) int { return t.Index - index }); found {
			events[i].Text = taskName(j, &tasks[at]) + e.Text
		}
	}
	events = slices.Grow(events, 2*len(tasks))
	for i := range tasks {
		events = taskEvents(events, j, &tasks[i])
	}
	return inTime(append(events, l.reasons.since(j)...)), nil
}

// inTime are events in the order of time; those of one instant stay as they are. What is moved about
// is small: an event is not, and an array has many.
func inTime(events []Event) []Event {
	type moment struct {
		at int64
		of int
	}
	order := make([]moment, len(events))
	for i := range events {
		order[i] = moment{events[i].At.UnixNano(), i}
	}
	slices.SortFunc(order, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), a.of-b.of) })
	out := make([]Event, len(events))
	for i, m := range order {
		out[i] = events[m.of]
	}
	return out
}

// taskName goes before what happened to one task of several.
func taskName(j *Job, t *Task) string {
	if j.Tasks == 1 {
		return ""
	}
	return "task " + strconv.Itoa(t.Number) + ": "
}

// taskEvents adds the beginning and the end of a task's last attempt.
func taskEvents(events []Event, j *Job, t *Task) []Event {
	name := taskName(j, t)
	began := Event{Job: j.ID, Task: t.Index, At: t.Started, Code: "started", Text: name + "attempt " + strconv.Itoa(t.Attempt) + " on " + t.Holder}
	if t.Queued {
		began.Code, began.Text = "queued", name+"attempt "+strconv.Itoa(t.Attempt)+", through "+t.Holder
	}
	events = append(events, began)
	if !t.Ended.IsZero() && t.Outcome.State != "" {
		text := name + string(t.Outcome.State)
		if t.Outcome.Cause != "" {
			text += ": " + t.Outcome.Cause
		}
		events = append(events, Event{Job: j.ID, Task: t.Index, At: t.Ended, Code: "finished", Text: text})
	}
	return events
}
