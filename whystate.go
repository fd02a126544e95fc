package fairlead

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/why"
)

func endedReason(j *Job, tasks []Task) why.Reason {
	r := why.Reason{Code: why.StateEnded, Text: fmt.Sprintf("it %s %s", j.State, j.Ended.Local().Format("2006-01-02 15:04:05"))}
	if j.Cause != "" {
		r.Text += ": " + j.Cause
	}
	if j.Tasks > 1 {
		r.Text += fmt.Sprintf(" (%d tasks succeeded, %d failed, %d were cancelled)", j.Succeeded, j.Failed, j.Cancelled)
	} else if len(tasks) == 1 && tasks[0].Attempt > 1 {
		r.Text += fmt.Sprintf(" (attempt %d)", tasks[0].Attempt)
	}
	r.Next = fmt.Sprintf("fairlead logs %d", j.ID)
	return r
}

// mostNodes bounds the nodes that are named of a job that runs.
const mostNodes = 16

func runningReason(j *Job, tasks []Task) why.Reason {
	r := why.Reason{
		Code: why.StateRunning,
		Text: fmt.Sprintf("it has run since %s on %s", j.Started.Local().Format("15:04:05"), holdersOf(tasks, func(t *Task) bool { return !t.Queued })),
		Next: fmt.Sprintf("fairlead logs -f %d", j.ID),
	}
	if j.Queued > 0 {
		r.Text += fmt.Sprintf("; %s in another queueing system, behind %s", plural(j.Queued, "task")+" of it wait", holdersOf(tasks, func(t *Task) bool { return t.Queued }))
	}
	return r
}

// queuedReason explains a job that waits in another queueing system, as far as that is known
// here: what it says itself the bridge tells the server.
func queuedReason(j *Job, tasks []Task) why.Reason {
	since := time.Time{}
	for i := range tasks {
		if t := &tasks[i]; t.State == Running && t.Queued && (since.IsZero() || t.Started.Before(since)) {
			since = t.Started
		}
	}
	return why.Reason{
		Code: why.StateQueued,
		Text: fmt.Sprintf("it was handed to the bridge %s at %s, and waits in the queueing system behind that", holdersOf(tasks, func(t *Task) bool { return t.Queued }), since.Local().Format("15:04:05")),
		Next: "wait: it has not begun, and is charged nothing",
	}
}

// cancellingReason explains a job that was cancelled and of which something is still there.
func cancellingReason(j *Job, tasks []Task) why.Reason {
	return why.Reason{
		Code: why.StateStopping,
		Text: fmt.Sprintf("it was cancelled (%s); %s of it %s being ended on %s", cmp.Or(j.Cause, "no reason given"), plural(j.Running, "task"), map[bool]string{true: "is", false: "are"}[j.Running == 1], holdersOf(tasks, func(*Task) bool { return true })),
		Next: "wait; if it takes long, see whether the node is there: fairlead nodes",
	}
}

// holdersOf are the nodes that hold tasks of a job, those that are asked for.
func holdersOf(tasks []Task, asked func(*Task) bool) string {
	var where []string
	known := map[string]bool{}
	for i := range tasks {
		if t := &tasks[i]; t.State == Running && asked(t) && !known[t.Holder] {
			known[t.Holder] = true
			where = append(where, t.Holder)
		}
	}
	if n := len(where) - mostNodes; n > 0 {
		where = append(where[:mostNodes], fmt.Sprintf("and %d more nodes", n))
	}
	return strings.Join(where, ", ")
}
