package memory

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// job is a job with its tasks that have started at least once.
type job struct {
	queue.Job
	tasks    map[int]*queue.Task
	next     int   // index of the first task that never started
	returned []int // tasks that wait again, sorted
}

type userKey struct{ user, key string }

// waits groups the waiting tasks by the instant from which they may start.
func (j *job) waits() []queue.Waits {
	var w []queue.Waits
	if fresh := j.Tasks - j.next; fresh > 0 && j.Waiting > 0 {
		w = append(w, queue.Waits{Tasks: fresh, Begin: j.Begin})
	}
	for _, i := range j.returned {
		w = life.AddWaits(w, j.tasks[i].Begin)
	}
	return w
}

// take returns the task of the job that starts next, nil if none may.
func (j *job) take(now time.Time) *queue.Task {
	if !life.Eligible(&j.Job) || j.Gang > 1 || j.MaxRunning > 0 && j.Running >= j.MaxRunning {
		return nil
	}
	for k, i := range j.returned {
		if !j.tasks[i].Begin.After(now) {
			j.returned = slices.Delete(j.returned, k, k+1)
			return j.tasks[i]
		}
	}
	if j.next == j.Tasks || j.Begin.After(now) {
		return nil
	}
	i := j.next
	j.next++
	j.tasks[i] = &queue.Task{Job: j.ID, Index: i, Number: j.Numbers().At(i)}
	return j.tasks[i]
}

// started returns the tasks of the job that have started at least once, by index.
func (j *job) started() []*queue.Task {
	var out []*queue.Task
	for _, i := range slices.Sorted(maps.Keys(j.tasks)) {
		out = append(out, j.tasks[i])
	}
	return out
}

// runs returns the running tasks of the job, by index.
func (j *job) runs() (runs []queue.Run) {
	for _, t := range j.started() {
		if t.State == queue.Running {
			runs = append(runs, life.Run(t))
		}
	}
	return runs
}

// firstFresh returns the first index from which on no task has ever started; tasks start in order of index.
func (j *job) firstFresh() int {
	n := 0
	for i := range j.tasks {
		n = max(n, i+1)
	}
	return n
}
