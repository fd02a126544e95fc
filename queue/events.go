package queue

import (
	"fmt"
	"strconv"
	"strings"
)

// EventEnded is the code of the end of a job. Once a requeued job waits again, only the journal still has that end;
// the job's own record does not.
const EventEnded = "ended"

// EndEvent returns the end of an ended job as an event of its history.
func (j *Job) EndEvent() Event {
	state := j.State
	if j.Cancelled > 0 && byUser(j.Cause) { // some of its tasks may have failed before
		state = Cancelled
	}
	text := endText(state, j.Cause)
	if j.Tasks > 1 {
		text += fmt.Sprintf(" (tasks: %d succeeded, %d failed, %d canceled)", j.Succeeded, j.Failed, j.Cancelled)
	}
	return Event{Job: j.ID, Task: -1, At: j.Ended, Code: EventEnded, Text: text}
}

// Events returns the beginning and the end of the task's last attempt as events of its history. A task that has not
// started since its job was requeued has none.
func (t *Task) Events() []Event {
	if t.Started.IsZero() || t.Outcome.Refused != "" { // the journal records attempts that did not begin
		return nil
	}
	began := t.Began()
	if t.Ended.IsZero() || t.Outcome.State == "" {
		return []Event{began}
	}
	text := endText(t.Outcome.State, t.Outcome.Cause)
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

// endText says how a job or a task ended: "succeeded", "failed: exit status 3", "canceled by ann".
func endText(state State, cause string) string {
	text := string(state)
	if state == Cancelled {
		text = "canceled"
	}
	switch {
	case cause == "":
		return text
	case state == Cancelled && strings.HasPrefix(cause, "by "):
		return text + " " + cause
	}
	return text + ": " + cause
}

// byUser reports whether a cause names the user who asked for the change: "by ann", or "REASON (by ann)".
func byUser(cause string) bool {
	return strings.HasPrefix(cause, "by ") || strings.HasSuffix(cause, ")") && strings.Contains(cause, " (by ")
}
