package fairlead

import (
	"context"
	"fmt"
	"slices"
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
	names := make(map[int]string, len(tasks))
	for _, t := range tasks {
		names[t.Index] = taskName(j, t)
	}
	for i, e := range events {
		events[i].Text = names[e.Task] + e.Text
	}
	for _, t := range tasks {
		events = append(events, taskEvents(j, t)...)
	}
	events = append(events, l.reasons.since(j)...)
	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })
	return events, nil
}

// taskName goes before what happened to one task of several.
func taskName(j *Job, t Task) string {
	if j.Tasks == 1 {
		return ""
	}
	return fmt.Sprintf("task %d: ", t.Number)
}

// taskEvents are the beginning and the end of a task's last attempt.
func taskEvents(j *Job, t Task) []Event {
	name := taskName(j, t)
	events := []Event{{Job: j.ID, Task: t.Index, At: t.Started, Code: "started", Text: fmt.Sprintf("%sattempt %d on %s", name, t.Attempt, t.Holder)}}
	if t.Queued {
		events[0].Code, events[0].Text = "queued", fmt.Sprintf("%sattempt %d, through %s", name, t.Attempt, t.Holder)
	}
	if !t.Ended.IsZero() && t.Outcome.State != "" {
		text := name + string(t.Outcome.State)
		if t.Outcome.Cause != "" {
			text += ": " + t.Outcome.Cause
		}
		events = append(events, Event{Job: j.ID, Task: t.Index, At: t.Ended, Code: "finished", Text: text})
	}
	return events
}
