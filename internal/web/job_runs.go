package web

import (
	"fmt"
	"regexp"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/queue"
)

// runsOf draws the tasks on the page over time, from the submission on: when each waited, and each of its attempts.
func runsOf(j *api.Job, rows []api.Task, events []api.Event, now time.Time) plot.Figure {
	if len(rows) == 0 {
		return nil
	}
	g := plot.Gantt{Width: 620, X: plot.Axis{Unit: plot.Seconds, Label: "since it was submitted"},
		Keys: []string{"runs", "waits"}}
	lives, of := make([]taskLife, len(rows)), map[int]*taskLife{}
	for i, t := range rows {
		name := fmt.Sprint("task ", t.Number)
		if j.Tasks == 1 {
			name = t.Node
		}
		g.Rows = append(g.Rows, name)
		lives[i] = taskLife{row: i, submitted: j.Submitted, waits: j.Submitted}
		of[t.Task] = &lives[i]
	}
	for i := range events {
		if x := of[events[i].Task]; x != nil {
			x.apply(&events[i])
		} else if events[i].Task < 0 {
			for k := range lives {
				lives[k].applyToJob(&events[i])
			}
		}
	}
	for i := range lives {
		lives[i].upTo(now, j.Ended)
		g.Boxes = append(g.Boxes, lives[i].boxes...)
	}
	return g
}

// attemptRE matches the name of the attempt in the event of a start.
var attemptRE = regexp.MustCompile(`attempt \d+`)

// taskLife follows a task through its events. The task waits, runs, or is over; if it is over, both instants are
// zero.
type taskLife struct {
	row         int
	submitted   time.Time
	waits, runs time.Time // since when
	back        time.Time // when the job of a task that is over was requeued or uncanceled
	attempt     string    // its name
	tip         string
	queued      bool // it waits in another queueing system
	boxes       []plot.Box
}

// apply takes an event of the task.
func (x *taskLife) apply(e *api.Event) {
	switch e.Code {
	case "queued":
		x.wait(e.At)
		x.queued = true
	case "started":
		if x.waits.IsZero() && x.runs.IsZero() { // an uncancel restores only some tasks
			x.waits = x.back
		}
		x.stop(e.At)
		x.runs, x.tip, x.attempt = e.At, e.Text, attemptRE.FindString(e.Text)
	case "finished":
		x.stop(e.At)
	case "again", "lost", "refused", "stopped":
		x.tip += "\n" + e.Text
		x.wait(e.At)
	}
}

// applyToJob takes an event of the whole job.
func (x *taskLife) applyToJob(e *api.Event) {
	switch e.Code {
	case queue.EventEnded:
		x.stop(e.At)
	case string(queue.VerbRequeue), string(queue.VerbUncancel):
		if x.back = e.At; e.Code == string(queue.VerbRequeue) && x.runs.IsZero() && x.waits.IsZero() {
			x.waits = e.At
		}
	}
}

// wait ends the present box; the task waits from then on.
func (x *taskLife) wait(at time.Time) {
	x.stop(at)
	x.waits = at
}

// stop ends the present box.
func (x *taskLife) stop(at time.Time) {
	from := func(t time.Time) float64 { return max(0, t.Sub(x.submitted).Seconds()) }
	switch {
	case !x.runs.IsZero():
		x.boxes = append(x.boxes, plot.Box{Row: x.row, From: from(x.runs), To: max(from(at), from(x.runs)), Key: "runs",
			Label: x.attempt, Tip: x.tip})
	case !x.waits.IsZero() && x.queued:
		x.boxes = append(x.boxes, plot.Box{Row: x.row, From: from(x.waits), To: from(at), Key: "waits", Label: "queued",
			Tip: "waits in the other queueing system"})
	case !x.waits.IsZero():
		x.boxes = append(x.boxes, plot.Box{Row: x.row, From: from(x.waits), To: from(at), Key: "waits", Tip: "waited"})
	}
	x.runs, x.waits, x.queued = time.Time{}, time.Time{}, false
}

// upTo ends the last box now or, if the job has ended, at its end.
func (x *taskLife) upTo(now time.Time, ended *time.Time) {
	if ended != nil {
		now = *ended
	}
	x.stop(now)
}
