package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// aboutJobs finds the jobs that the action would change.
func (a *Act) aboutJobs(ctx context.Context, src Source, r *Request) error {
	var ids []int64
	for _, text := range r.Query["job"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return &queue.Invalid{Field: "job", Msg: fmt.Sprintf("%.40q is not a job number", text)}
		}
		ids = append(ids, id)
	}
	switch a.Back += queuePath; {
	case len(ids) == 0:
		return &queue.Invalid{Field: "job", Msg: "no job is selected; select jobs in the queue"}
	case len(ids) > maxAct:
		return &queue.Invalid{Field: "job",
			Msg: fmt.Sprintf("at most %d jobs at once by number; for more, select all jobs that match", maxAct)}
	case r.Query.Has("list"): // the list in which the jobs were selected
		a.Back += "?" + url.Values{"list": {r.Word("list")}, "q": {r.Word("q")}}.Encode()
	case len(ids) == 1:
		a.Back = fmt.Sprint(r.Root, "jobs/", ids[0])
	}
	list, err := src.Jobs.List(ctx, queue.Query{IDs: ids, Limit: len(ids)}, JobOptions{})
	if err != nil {
		return err
	}
	awaited, err := a.awaited(ctx, src, list.Jobs)
	if err != nil {
		return err
	}
	for i := range list.Jobs {
		j := &list.Jobs[i]
		v := victim{Job: j, Not: a.forbids(j, &r.You), Effect: effect(a.Verb, j)}
		v.May = v.Not == ""
		if on := awaited[j.ID]; on > 0 && v.May {
			v.Effect = fmt.Sprintf("can be uncanceled only together with job %d, unless it need not wait for that job", on)
		}
		a.Jobs = append(a.Jobs, v)
		if v.May {
			a.stops(j)
		} else {
			a.Not++
		}
		if !slices.Contains(a.Users, j.User) {
			a.Users = append(a.Users, j.User)
		}
	}
	if len(a.Jobs) == 0 {
		return missing("these jobs do not exist")
	}
	return nil
}

// forbids returns the reason why the user may not change a job, or "".
func (a *Act) forbids(j *api.Job, you *You) string {
	switch {
	case !mayChange(j, you):
		return "not allowed: the job belongs to " + j.User
	case a.Verb == "release" && !mayRelease(j, you):
		return "only an administrator may release it: " + j.HeldBy + " held it"
	}
	return ""
}

// stopsTasks reports whether the action stops running tasks.
func (a *Act) stopsTasks() bool { return a.Harm && a.Verb != cancelWaiting }

// stops counts the tasks of a job that the action stops or takes back.
func (a *Act) stops(j *api.Job) {
	if a.stopsTasks() && !j.Cancel { // canceled jobs are already being stopped
		a.Tasks += j.Running - j.Queued
		a.Queued += j.Queued
	}
}

// lookAgain counts the tasks that were told to stop and have not stopped yet. A task counts as stopped only
// when it has ended, and the end of a task behind a bridge may take long.
func (a *Act) lookAgain(ctx context.Context, src Source) error {
	if len(a.Did) == 0 {
		return nil
	}
	list, err := src.Jobs.List(ctx, queue.Query{IDs: a.Did, Limit: len(a.Did)}, JobOptions{})
	if err != nil {
		return err
	}
	for i := range list.Jobs {
		j := &list.Jobs[i]
		at := slices.IndexFunc(a.Jobs, func(v victim) bool { return v.ID == j.ID })
		a.Jobs[at].Ending = min(j.Running, a.Jobs[at].Running) // without tasks that started meanwhile
		a.Ending += a.Jobs[at].Ending
	}
	return nil
}

// awaited returns the jobs whose cancellation would be undone although a dependency of theirs cannot be met.
// Such a dependency ended with another result, or is no longer stored, and does not come back with them. The
// value is the first such dependency.
func (a *Act) awaited(ctx context.Context, src Source, jobs []api.Job) (map[int64]int64, error) {
	if a.Verb != "uncancel" {
		return nil, nil
	}
	here, states := map[int64]bool{}, map[int64]queue.State{}
	for i := range jobs {
		here[jobs[i].ID] = jobs[i].Cancel
	}
	var others []int64
	for i := range jobs {
		for _, d := range jobs[i].After {
			if !here[d.Job] {
				others = append(others, d.Job)
			}
		}
	}
	if len(others) == 0 {
		return nil, nil
	}
	list, err := src.Jobs.List(ctx, queue.Query{IDs: others, Limit: len(others)}, JobOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Jobs {
		states[list.Jobs[i].ID] = queue.State(list.Jobs[i].State)
	}
	awaited := map[int64]int64{}
	for i := range jobs {
		j := &jobs[i]
		for _, d := range j.After {
			on := queue.Dependency{Job: d.Job, On: queue.DependsOn(d.On)}
			if _, never := on.Wait(states[d.Job]); never != nil && !here[d.Job] && j.Cancel && j.Cancelled > 0 {
				awaited[j.ID] = d.Job
				break
			}
		}
	}
	return awaited, nil
}

// effect returns the effect of a verb on a job.
func effect(name string, j *api.Job) string {
	ended := queue.State(j.State).Ended()
	switch {
	case name == "requeue" && ended:
		return "runs again from the start"
	case name == "uncancel" && j.Cancel && j.Gang > 1 && j.Failed > 0:
		return "cannot continue, because one of its tasks failed: nothing changes"
	case name == "uncancel" && j.Cancel && j.Running > 0:
		return "waits again; tasks that are being stopped follow when they have stopped"
	case name == "uncancel" && j.Cancel && j.Cancelled > 0:
		return "waits again, without the tasks that had ended"
	case name == "uncancel" && j.Cancel:
		return "had ended before it could be stopped: nothing changes"
	case name == "uncancel" && partly(j):
		return "its canceled tasks wait again"
	case name == "uncancel":
		return "was not canceled: nothing changes"
	case ended:
		return "has ended already: nothing changes"
	case j.Cancel && j.Running > 0 && (name == "requeue" || name == "cancel"):
		return "is being canceled already: nothing changes"
	case name == "requeue" && j.Running > j.Queued:
		return "is stopped, and waits again from the start"
	case name == "requeue" && j.Running > 0:
		return "is taken back from the other queueing system, and waits here again"
	case (name == "move" || name == "limit") && j.Running > 0:
		return "runs: nothing changes"
	case name == "move":
		return "waits in the other pool"
	case name == "limit":
		return "has " + limitWords(cmp.Or(j.LimitSeconds, -1)) + " now"
	case name == cancelWaiting:
		return cancelsWaiting(j)
	case name == "cancel" && j.Running > j.Queued:
		return "is stopped; its work is lost"
	case name == "cancel" && j.Running > 0:
		return "is taken back from the other queueing system, and never starts"
	case name == "cancel":
		return "never starts"
	case name == "hold" && j.Waiting == 0 && j.Running > 0:
		return "continues: it runs already"
	case name == "hold":
		return "waits until it is released"
	case name == "release" && j.Held:
		return "waits for its turn again"
	}
	return "nothing changes"
}

// cancelsWaiting returns the effect of a cancel of the waiting tasks on a job.
func cancelsWaiting(j *api.Job) string {
	switch {
	case j.Waiting == 0, j.Running > 0 && j.Gang > 1:
		return "has no waiting task: nothing changes"
	case j.Running == 0:
		return "never starts"
	}
	return fmt.Sprintf("%s %s; %s %s",
		words.Tasks(int64(j.Waiting)), units.OneOf(j.Waiting, "never starts", "never start"),
		words.Tasks(int64(j.Running)), units.OneOf(j.Running, "continues", "continue"))
}
