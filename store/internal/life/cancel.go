package life

import (
	"cmp"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Cancel cancels the waiting tasks of a job; unless the alteration is only about the waiting tasks, the holders of
// the running tasks must stop these. It returns false if the job has ended.
func Cancel(j *queue.Job, a queue.Alteration, now time.Time) bool {
	if j.State.Ended() {
		return false
	}
	j.Cancelled += j.Waiting
	j.Waiting = 0
	if a.Waiting && j.Running > 0 {
		j.Cause = cmp.Or(j.Cause, Words(a))
		return true
	}
	j.Cancel = true
	j.Cause = Words(a)
	settle(j, now)
	return true
}

// mayCancelWaiting returns an error if the waiting tasks of a job cannot be canceled alone, because there are none or
// because they belong to a gang whose other tasks run.
func mayCancelWaiting(j *queue.Job) error {
	no := func(why string) error {
		return fmt.Errorf("job %d %s; to cancel all of it: fairlead cancel %d: %w", j.ID, why, j.ID, queue.ErrState)
	}
	switch {
	case j.Cancel:
		return fmt.Errorf("job %d is being canceled: %w", j.ID, queue.ErrState)
	case j.Waiting > 0 && j.Gang > 1 && j.Running > 0:
		return no("is a gang, whose tasks run or end together")
	case j.Waiting == 0 && j.Queued > 0 && j.Queued == j.Running:
		return no("has no waiting task here: it waits in another queueing system")
	case j.Waiting == 0:
		return no("has no waiting task")
	}
	return nil
}

// struckOut returns the number of tasks that ended as canceled because only the waiting tasks of their job were
// canceled. The argument "tasks" has all started tasks. Any other canceled tasks ended as canceled by themselves.
func struckOut(j *queue.Job, tasks []*queue.Task) int {
	n := j.Cancelled
	for _, t := range tasks {
		if t.State == queue.Cancelled && t.Alone {
			n--
		}
	}
	return n
}
