package life

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// Apart reports whether a gang has lost a task: what of it runs has to be stopped. If a
// task waits by then, all will wait again; else the job is about to end.
func Apart(j *fairlead.Job) bool {
	return j.Gang > 1 && j.Running > 0 && j.Waiting+j.Failed+j.Cancelled > 0
}

// follows reports whether the next attempt to end of a gang that has come apart waits again
// however it ended, so that no rank will be missing.
func follows(j *fairlead.Job, t *fairlead.Task) bool { return j.Waiting > 0 || t.Requeue }

// Together reports whether the last attempt of a gang has ended that waits again.
func Together(j *fairlead.Job) bool { return j.Gang > 1 && j.Running == 0 && j.Waiting > 0 }

// Gather lets all tasks of a gang wait again, from when the last of them may start. A failure
// or a loss of one of them was one of all. It returns how many more wait than before, and the
// entries of those whose success is undone in the job's history.
func Gather(j *fairlead.Job, tasks []*fairlead.Task, now time.Time) (more int, undone []fairlead.Event) {
	var all fairlead.Task
	for _, t := range tasks {
		all.Fails, all.Losses = max(all.Fails, t.Fails), max(all.Losses, t.Losses)
		if t.Begin.After(all.Begin) {
			all.Begin = t.Begin
		}
	}
	for _, t := range tasks {
		if t.State != fairlead.Waiting {
			text := fmt.Sprintf("attempt %d on %s %s; it runs again with the others of its gang", t.Attempt, t.Holder, t.Outcome.State)
			undone = append(undone, fairlead.Event{Job: j.ID, Task: t.Index, At: now, Code: "again", Text: text})
		}
		t.State, t.Begin, t.Fails, t.Losses, t.Queued = fairlead.Waiting, all.Begin, all.Fails, all.Losses, false
	}
	more = j.Tasks - j.Waiting
	j.Waiting, j.Succeeded, j.Failed, j.Cancelled = j.Tasks, 0, 0, 0
	j.Cause = ""
	j.State = State(j)
	return more, undone
}

// Due reports whether all tasks of a gang wait and may start, and a want names a holder for
// each.
func Due(j *fairlead.Job, want fairlead.Want, tasks []*fairlead.Task, now time.Time) bool {
	if j.Gang < 2 || len(want.Nodes) != j.Gang || j.Waiting != j.Tasks || !Eligible(j) || j.Begin.After(now) {
		return false
	}
	for _, t := range tasks {
		if t.Begin.After(now) {
			return false
		}
	}
	return true
}

// LeaseGang leases all tasks of a gang that is due, each to the holder that the want names for
// it. Of the tasks, those are given that have started before; it returns all, and their leases.
func LeaseGang(j *fairlead.Job, w fairlead.Want, tasks []*fairlead.Task, now, until time.Time) ([]*fairlead.Task, []*fairlead.Lease) {
	for i, holder := range w.Nodes {
		if i == len(tasks) {
			tasks = append(tasks, &fairlead.Task{Job: j.ID, Index: i, Number: i})
		}
		Lease(tasks[i], holder, w.Charge, now, until)
		Start(j, now)
	}
	leases := make([]*fairlead.Lease, len(tasks))
	for i, t := range tasks {
		spec := *j
		leases[i] = NewLease(&spec, t)
		leases[i].Nodes = slices.Clone(w.Nodes)
	}
	return tasks, leases
}

// Parting is what is known of a job before an attempt of it ends. How says in words in
// which way it ends, as in "task 3 failed on n7".
type Parting struct {
	how   string
	apart bool
}

// Part is called before an attempt of the job ends.
func Part(j *fairlead.Job, how string) Parting { return Parting{how, Apart(j)} }

// HowEnded says in words how an attempt ends with the outcome.
func HowEnded(o fairlead.Outcome) string {
	if o.State == fairlead.Failed {
		return "failed"
	}
	return "ended early"
}

// How attempts end without an outcome.
const (
	HowLost  = "was lost"
	HowGiven = "was given back"
)

// Apart reports whether the gang has come apart by the end of the attempt.
func (p Parting) Apart(j *fairlead.Job) bool { return !p.apart && Apart(j) }

// Change tells the holders of the other tasks to stop.
func (p Parting) Change(j *fairlead.Job, t *fairlead.Task, runs []fairlead.Run, now time.Time) fairlead.Change {
	return fairlead.Change{What: fairlead.Stop, Job: Header(j), State: j.State, Reason: p.reason(t), Runs: runs, At: now}
}

// Event is the entry in the job's history.
func (p Parting) Event(j *fairlead.Job, t *fairlead.Task, now time.Time) fairlead.Event {
	text := fmt.Sprintf("%s; the %d others that run are stopped", p.reason(t), j.Running)
	if j.Running == 1 {
		text = p.reason(t) + "; the other one that runs is stopped"
	}
	if j.Waiting > 0 {
		text += ", and all wait again"
	}
	return fairlead.Event{Job: j.ID, Task: -1, At: now, Code: "gang", Text: text}
}

func (p Parting) reason(t *fairlead.Task) string {
	return fmt.Sprintf("task %d of its gang %s on %s", t.Number, p.how, t.Holder)
}

// apartEarlier is what holders are told again that may not have heard why.
const apartEarlier = "another task of its gang has ended early"
