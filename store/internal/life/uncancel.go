package life

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Along reports whether a job was canceled only because one of its dependencies could no longer be met, and not by a
// cancel of its own.
func Along(j *queue.Job) bool {
	if !j.State.Ended() || !j.Cancel || j.Pending == 0 {
		return false
	}
	for _, d := range j.After {
		for _, ended := range []queue.State{queue.Succeeded, queue.Failed, queue.Cancelled} {
			if j.Cause == unmet(d, ended) {
				return true
			}
		}
	}
	return false
}

// Awaits returns the jobs for which a canceled job waits again when its cancellation is undone. Awaits refuses that if
// one of these jobs has ended in such a way that the job could never start. A job that was not blocked when it was
// canceled waits for no others.
func Awaits(j *queue.Job, state func(id int64) (queue.State, error)) (waitsFor []int64, refused, err error) {
	if j.Pending == 0 {
		return nil, nil, nil
	}
	for _, d := range j.After {
		s, err := state(d.Job)
		if err != nil {
			return nil, nil, err
		}
		wait, never := d.Wait(s)
		if never != nil {
			return nil, noUncancel(j, d, s), nil
		}
		if wait {
			waitsFor = append(waitsFor, d.Job)
		}
	}
	return waitsFor, nil, nil
}

func noUncancel(j *queue.Job, d queue.Dependency, s queue.State) error {
	became := "has ended as " + string(s)
	if s == "" {
		became = "is no longer kept"
	}
	return fmt.Errorf("job %d cannot be uncanceled: it waits for job %d (%s), which %s; uncancel or requeue that job first, or run this one without it: fairlead requeue %d: %w",
		j.ID, d.Job, d.On, became, j.ID, queue.ErrState)
}

// UncancelWith returns the alteration that brings a job back together with one of its dependencies.
func UncancelWith(job, on int64) queue.Alteration {
	return queue.Alteration{Job: job, Verb: queue.VerbUncancel, Cause: fmt.Sprintf("with job %d", on)}
}

// Uncancel undoes the cancellation of a job, so that its cancelled tasks wait again. The argument "tasks" has all
// started tasks, by index. Among these it restores the tasks that the cancellation stopped, and the tasks that had
// waited for another attempt. Tasks that succeeded, failed or were canceled alone stay as they are, except in a gang,
// which runs only as a whole. A task that is still being stopped waits again when it has stopped; if only the waiting
// tasks were canceled, the running tasks continue, and are tried again as before. The job then waits for "pending"
// other jobs. Uncancel returns the changed tasks.
func Uncancel(j *queue.Job, tasks []*queue.Task, pending int) (changed []*queue.Task, refused error) {
	if !j.Cancel && struckOut(j, tasks) == 0 {
		return nil, notCancelled(j)
	}
	whole := j.Gang > 1 && j.State.Ended()
	back := j.Tasks - len(tasks)
	var running, waiting []*queue.Task
	for _, t := range tasks {
		switch {
		case t.State == queue.Running:
			running = append(running, t)
		case whole || t.State == queue.Cancelled && !t.Alone:
			changed = append(changed, t)
			back++
		case t.State == queue.Waiting && t.NoRetry:
			t.NoRetry = false
			waiting = append(waiting, t)
		}
	}
	if back+len(running) == 0 {
		return nil, nothingCancelled(j)
	}
	for _, t := range changed {
		t.State, t.Queued, t.NoRetry = queue.Waiting, false, false
	}
	for _, t := range running {
		t.Stopped, t.NoRetry = t.Stopped || j.Cancel, false
	}
	j.Waiting += back
	if j.Cancelled -= back; whole {
		j.Succeeded, j.Cancelled = 0, 0
	}
	j.Cancel, j.Cause, j.Pending = false, "", pending
	if j.Failed > 0 {
		j.Cause = causeOf(tasks)
	}
	j.Ended = time.Time{}
	j.State = State(j)
	return slices.Concat(changed, running, waiting), nil
}

// causeOf returns the cause of the first failure, which the cancellation had replaced.
func causeOf(tasks []*queue.Task) string {
	var first *queue.Task
	for _, t := range tasks {
		if t.State == queue.Failed && (first == nil || t.Ended.Before(first.Ended)) {
			first = t
		}
	}
	if first == nil {
		return ""
	}
	return cause(first.Outcome)
}

func notCancelled(j *queue.Job) error {
	if j.State.Ended() {
		return fmt.Errorf("job %d has ended (%s), and nobody canceled it; to run it again: fairlead requeue %d: %w", j.ID,
			j.State, j.ID, queue.ErrState)
	}
	return fmt.Errorf("job %d is not canceled: %w", j.ID, queue.ErrState)
}

func nothingCancelled(j *queue.Job) error {
	return fmt.Errorf(
		"job %d had ended (%s) before it could be stopped: nothing was canceled; to run it again: fairlead requeue %d: %w",
		j.ID, j.State, j.ID, queue.ErrState)
}

// mayUncancel returns an error if the cancellation of a job cannot be undone because of the job itself.
func mayUncancel(j *queue.Job) error {
	no := func(why string) error { return fmt.Errorf("job %d %s: %w", j.ID, why, queue.ErrState) }
	switch {
	case !j.Cancel && (j.Cancelled == 0 || j.Gang > 1):
		return notCancelled(j)
	case j.Gang > 1 && j.Failed > 0:
		return no(fmt.Sprintf("is a gang with a failed task: it cannot continue without that task; to run all of it again: fairlead requeue %d", j.ID))
	case j.Cancelled == 0 && j.State.Ended():
		return nothingCancelled(j)
	}
	return nil
}
