package life

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Parting holds the facts about a job before an attempt of it ends. The field "how" describes the end of the attempt,
// as in "task 3 failed on n7".
type Parting struct {
	how    string
	apart  bool
	queued bool // the attempt waits in another queueing system
}

// Part records these facts. Call it before an attempt of the job's task ends.
func Part(j *queue.Job, t *queue.Task, how string) Parting {
	return Parting{how, Apart(j), t.Queued}
}

// HowEnded describes the end of an attempt with the outcome.
func HowEnded(o queue.Outcome) string {
	if o.State == queue.Failed {
		return "failed"
	}
	return "ended early"
}

// How attempts end without an outcome.
const (
	HowLost  = "was lost"
	HowGiven = "was given back"
)

// Apart reports whether the end of the attempt broke the gang apart.
func (p Parting) Apart(j *queue.Job) bool { return !p.apart && Apart(j) }

// Change returns the change that makes the holders of the other tasks stop.
func (p Parting) Change(j *queue.Job, t *queue.Task, runs []queue.Run, now time.Time) queue.Change {
	return queue.Change{What: queue.Stop, Job: Header(j), State: j.State, Reason: p.reason(t), Runs: runs, At: now}
}

// Event returns the event for the job's history.
func (p Parting) Event(j *queue.Job, t *queue.Task, now time.Time) queue.Event {
	text := fmt.Sprintf("%s; the %d other running tasks are stopped", p.reason(t), j.Running)
	if j.Running == 1 {
		text = p.reason(t) + "; the other running task is stopped"
	}
	if j.Waiting > 0 {
		text += ", and all tasks wait again"
	}
	return queue.Event{Job: j.ID, Task: -1, At: now, Code: "gang", Text: text}
}

func (p Parting) reason(t *queue.Task) string {
	return fmt.Sprintf("task %d of its gang %s on %s", t.Number, p.how, t.Holder)
}

// LostEvents returns the events of a lost attempt for the job's history: if its task waits again, they include its
// beginning.
func (p Parting) LostEvents(t *queue.Task, again bool, now time.Time) []queue.Event {
	lost := lostEvent(t, again, now)
	if !again { // the task keeps the beginning
		return []queue.Event{lost}
	}
	return []queue.Event{p.began(t), lost}
}

func lostEvent(t *queue.Task, again bool, now time.Time) queue.Event {
	text := fmt.Sprintf("attempt %d was lost together with %s", t.Attempt, t.Holder)
	if again {
		text += "; it waits again"
	}
	return queue.Event{Job: t.Job, Task: t.Index, At: now, Code: "lost", Text: text}
}

// AgainEvents returns the events of an ended attempt whose task waits again: its beginning, which the next attempt
// overwrites in the task, and its end.
func (p Parting) AgainEvents(t *queue.Task, o queue.Outcome, now time.Time) []queue.Event {
	return []queue.Event{p.began(t), againEvent(t, o, now)}
}

// began returns the beginning of the ended attempt.
func (p Parting) began(t *queue.Task) queue.Event {
	was := *t
	was.Queued = p.queued
	return was.Began()
}

// againEvent returns the end of an attempt whose task waits again, because the task keeps only its last attempt. It has
// the time of the end, which may have been reported late.
func againEvent(t *queue.Task, o queue.Outcome, now time.Time) queue.Event {
	text := fmt.Sprintf("attempt %d on %s %s", t.Attempt, t.Holder, o.State)
	if o.State == queue.Cancelled && o.Next != nil {
		text = fmt.Sprintf("attempt %d on %s was postponed", t.Attempt, t.Holder)
	}
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
	return queue.Event{Job: t.Job, Task: t.Index, At: t.Ended, Code: "again", Text: text}
}
