package queue

import (
	"fmt"
	"strconv"
)

// EventEnded is the code of the end of a job. When a requeued job waits again its own record no longer has that end,
// and only the journal does.
const EventEnded = "ended"

// EndEvent returns the end of an ended job as an event of its history.
func (j *Job) EndEvent() Event {
	text := string(j.State)
	if j.Cause != "" {
		text += ": " + j.Cause
	}
	if j.Tasks > 1 {
		text += fmt.Sprintf(" (tasks: %d succeeded, %d failed, %d cancelled)", j.Succeeded, j.Failed, j.Cancelled)
	}
	return Event{Job: j.ID, Task: -1, At: j.Ended, Code: EventEnded, Text: text}
}

// Events returns the beginning and the end of the task's last attempt as events of its history. A task that has not
// started since its job was requeued has none.
func (t *Task) Events() []Event {
	if t.Started.IsZero() || t.Outcome.Refused != "" { // the journal tells of attempts that did not begin
		return nil
	}
	began := t.Began()
	if t.Ended.IsZero() || t.Outcome.State == "" {
		return []Event{began}
	}
	text := string(t.Outcome.State)
	if t.Outcome.Cause != "" {
		text += ": " + t.Outcome.Cause
	}
	return []Event{began, {Job: t.Job, Task: t.Index, At: t.Ended, Code: "finished", Text: text}}
}

// Began returns the beginning of the task's last attempt as an event of its history.
func (t *Task) Began() Event {
	began := Event{Job: t.Job, Task: t.Index, At: t.Started, Code: "started", Text: "attempt " + strconv.Itoa(t.Attempt) + " on " + t.Holder}
	if t.Queued {
		began.Code, began.Text = "queued", "attempt "+strconv.Itoa(t.Attempt)+", through "+t.Holder
	}
	return began
}
