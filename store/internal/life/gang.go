package life

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Together reports whether a gang waits again and the last of its attempts has ended.
func Together(j *queue.Job) bool { return j.Gang > 1 && j.Running == 0 && j.Waiting > 0 }

// Gather makes all tasks of a gang wait again, until the last of them may start. A failure or a loss of one task counts
// for all. It returns how many more tasks wait than before, and the history events of the tasks whose success is
// undone.
func Gather(j *queue.Job, tasks []*queue.Task, now time.Time) (more int, undone []queue.Event) {
	var all queue.Task
	for _, t := range tasks {
		all.Fails, all.Losses = max(all.Fails, t.Fails), max(all.Losses, t.Losses)
		if t.Begin.After(all.Begin) {
			all.Begin = t.Begin
		}
	}
	for _, t := range tasks {
		if t.State != queue.Waiting {
			text := fmt.Sprintf("attempt %d on %s %s; the task runs again with the others of its gang", t.Attempt, t.Holder, t.Outcome.State)
			undone = append(undone, t.Began(), queue.Event{Job: j.ID, Task: t.Index, At: now, Code: "again", Text: text})
		}
		t.State, t.Begin, t.Fails, t.Losses, t.Queued = queue.Waiting, all.Begin, all.Fails, all.Losses, false
	}
	more = j.Tasks - j.Waiting
	j.Waiting, j.Succeeded, j.Failed, j.Cancelled = j.Tasks, 0, 0, 0
	j.Cause = ""
	j.State = State(j)
	return more, undone
}

// Due reports whether all tasks of a gang wait and may start, and whether the [queue.Want] names a holder for
// each.
func Due(j *queue.Job, want queue.Want, tasks []*queue.Task, now time.Time) bool {
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

// LeaseGang leases all tasks of a gang that is due, each to the holder that the want names for it. The argument "tasks"
// has the tasks that have started before. LeaseGang returns all tasks, and their leases.
func LeaseGang(j *queue.Job, w queue.Want, tasks []*queue.Task, now, until time.Time) ([]*queue.Task, []*queue.Lease) {
	for i, holder := range w.Nodes {
		if i == len(tasks) {
			tasks = append(tasks, &queue.Task{Job: j.ID, Index: i, Number: i})
		}
		Lease(tasks[i], holder, w.Charge, now, until)
		Start(j, now)
	}
	leases := make([]*queue.Lease, len(tasks))
	for i, t := range tasks {
		spec := *j
		leases[i] = NewLease(&spec, t)
		leases[i].Nodes = slices.Clone(w.Nodes)
	}
	return tasks, leases
}
