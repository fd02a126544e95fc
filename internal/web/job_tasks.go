package web

import (
	"maps"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// taskRows and eventRows bound the tasks and the events on the page of a job. The reason is that the server
// sends the parts of the page again to every open browser after each change.
const (
	taskRows  = 40
	eventRows = 40
)

// taskList holds the tasks of a job that have started, a screenful at a time.
type taskList struct {
	Rows   []api.Task
	States []taskState
	Fresh  int // tasks of an array that have not started
	Pager
}

// taskState is a state and the number of tasks in it.
type taskState struct {
	Name, Link string
	Count      int
	On         bool
}

// tasksOf returns the tasks in the requested state, or in any state, beginning with the task that the request
// names.
func tasksOf(j *api.JobResponse, r *Request) taskList {
	l := taskList{Fresh: max(0, j.Job.Tasks-len(j.Tasks))}
	state := r.Word("tasks")
	counts := map[string]int{}
	found := j.Tasks
	if state != "" {
		found = nil
	}
	for i := range j.Tasks {
		t := &j.Tasks[i]
		is := stateOf(t)
		if counts[is]++; is == state {
			found = append(found, *t)
		}
	}
	first := *r // another list begins at its first task
	first.Query = maps.Clone(r.Query)
	first.Query.Del("from")
	l.States = []taskState{{"started", first.With("tasks", ""), len(j.Tasks), state == ""}}
	for _, s := range queue.States() {
		if n := counts[string(s)]; n > 0 || string(s) == state {
			l.States = append(l.States, taskState{string(s), first.With("tasks", string(s)), n, string(s) == state})
		}
	}
	l.Pager = pagerOf(len(found), taskRows, r)
	l.Rows = slices.Clone(found[min(l.First-1, len(found)):l.Last])
	for i := range l.Rows {
		l.Rows[i].State = stateOf(&l.Rows[i])
	}
	return l
}

// stateOf returns the state of a task for users: a task that a bridge has handed over is leased, but does not
// run.
func stateOf(t *api.Task) string {
	if t.Queued && t.State == string(queue.Running) {
		return string(queue.Queued)
	}
	return t.State
}

// eventList holds the events of a job, a screenful at a time: the last ones, unless the address names the
// first event.
type eventList struct {
	Rows []api.Event
	Pager
}

func eventsOf(all []api.Event, r *Request) eventList {
	from, err := strconv.Atoi(r.Word("events"))
	if err != nil || from < 1 || from > len(all) {
		from = max(1, len(all)-eventRows+1)
	}
	l := eventList{Pager: Pager{First: from, Last: min(len(all), from-1+eventRows), All: len(all)}}
	l.Rows = slices.Clone(all[min(from-1, len(all)):l.Last])
	if from > 1 {
		l.Before = r.With("events", strconv.Itoa(max(1, from-eventRows)))
	}
	if next := l.Last + 1; next <= len(all) {
		l.After = r.With("events", strconv.Itoa(next))
		if next+eventRows > len(all) { // the last screenful, which follows new events
			l.After = r.With("events", "")
		}
	}
	return l
}
