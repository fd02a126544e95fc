// Package history makes a workload for the simulator from the jobs of a server, and replays it under other
// shares, to show the schedule that these shares would have produced. The caller chooses the shares and
// stores the jobs.
package history

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/queue"
)

// Source reads the stored jobs.
type Source interface {
	Jobs(ctx context.Context, q queue.Query) ([]*queue.Job, error)
	Tasks(ctx context.Context, job int64) ([]queue.Task, error)
}

// Window is the part of the past to replay, and the size of the machine.
type Window struct {
	From, To time.Time
	Unit     string
	Units    int64
}

// Past is the workload of a window, with its differences from the real past.
//
// Every task is a job of its own, but a gang is one job as wide as all its tasks together. A job that was
// submitted before the window is submitted at the beginning of the window. If the job had started, it runs
// from then on, for its remaining time and with its remaining time limit. The run time of a task that has
// not ended yet is the median of the ended tasks of its user. If that user has none, the tasks of the pool
// count, and if the pool has none, all tasks. A running task runs at least as long as it has so far.
type Past struct {
	sim.Workload
	Window  Window
	Guessed int // tasks whose run time is taken from other tasks
	Unknown int // omitted tasks: they have not ended, and no other task has
	TooWide int // omitted tasks: they ask for more than the machine has
	Cut     bool
}

// maxTasks bounds a replay: it takes the latest jobs.
const maxTasks = 100_000

// forever is the planned time limit of tasks without one.
const forever = 365 * 24 * 3600

// Read makes the workload of a window. The window begins with the first job of all if that job is later.
func Read(ctx context.Context, src Source, w Window) (*Past, error) {
	oldest, err := src.Jobs(ctx, queue.Query{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("read the oldest job: %w", err)
	}
	if len(oldest) > 0 && oldest[0].Submitted.After(w.From) && oldest[0].Submitted.Before(w.To) {
		w.From = oldest[0].Submitted
	}
	jobs, err := src.Jobs(ctx, queue.Query{Since: w.From, Newest: true, Limit: maxTasks})
	if err != nil {
		return nil, fmt.Errorf("read the jobs of the past: %w", err)
	}
	r := reader{past: &Past{Window: w}, jobs: map[int64]*queue.Job{}}
	r.past.Name, r.past.Procs, r.past.Zero = "history", int(min(max(w.Units, 1), math.MaxInt32)), w.From
	for _, j := range jobs {
		r.jobs[j.ID] = j
	}
	for _, j := range jobs {
		if len(r.tasks) >= maxTasks {
			r.past.Cut = true
			break
		}
		tasks, err := tasksOf(ctx, src, j)
		if err != nil {
			return nil, fmt.Errorf("read the tasks of job %d: %w", j.ID, err)
		}
		r.add(j, tasks)
	}
	r.past.Cut = r.past.Cut || len(jobs) == maxTasks
	r.finish()
	return r.past, nil
}

// tasksOf returns the tasks of a job that began. The fields of a job with one task give its task.
func tasksOf(ctx context.Context, src Source, j *queue.Job) ([]queue.Task, error) {
	switch {
	case j.Started.IsZero():
		return nil, nil
	case j.Tasks == 1 && (j.State.Ended() || j.Running == 1):
		return []queue.Task{{Job: j.ID, State: j.State, Started: j.Started, Ended: j.Ended}}, nil
	}
	return src.Tasks(ctx, j.ID)
}

// task is one task of the past; run is below 0 if it is unknown.
type task struct {
	job     *queue.Job
	submit  int64
	run     int64
	atLeast int64
	before  int64 // seconds that it had run when the window began; 0 if it did not run then
}

type reader struct {
	past  *Past
	jobs  map[int64]*queue.Job
	tasks []task
}

// second returns the seconds from the beginning of the window to an instant, rounded, and 0 for earlier
// instants.
func (r *reader) second(t time.Time) int64 {
	return int64(max(t.Sub(r.past.Window.From), 0).Round(time.Second) / time.Second)
}

// add adds the tasks of a job.
func (r *reader) add(j *queue.Job, began []queue.Task) {
	submit := r.second(r.ready(j))
	waiting := j.Waiting
	if j.Gang > 1 {
		began, waiting = wholeGang(j, began)
	}
	for i := range began {
		t := &began[i]
		switch running := t.State == queue.Running && t.Ended.IsZero(); {
		case t.Started.IsZero() || t.State == queue.Waiting:
			// The task waits, for the first time or again: j.Waiting counts it.
		case running:
			r.tasks = append(r.tasks, task{j, submit, -1, r.second(r.past.Window.To) - r.second(t.Started), r.before(t)})
		case t.Ended.After(r.past.Window.From):
			r.tasks = append(r.tasks, task{j, submit, r.second(t.Ended) - r.second(t.Started), 0, r.before(t)})
		}
	}
	if j.Held || j.Cancel || j.State.Ended() || j.State == queue.Blocked {
		return // its waiting tasks wait for something other than their turn
	}
	for range min(waiting, maxTasks-min(len(r.tasks), maxTasks)) {
		r.tasks = append(r.tasks, task{j, submit, -1, 0, 0})
	}
}

// wholeGang returns a gang as one task that lasts until the last of its tasks has ended, or as one waiting
// task.
func wholeGang(j *queue.Job, tasks []queue.Task) (began []queue.Task, waiting int) {
	if j.Waiting == j.Tasks {
		return nil, 1
	}
	if len(tasks) == 0 {
		return nil, 0
	}
	whole := tasks[0]
	for _, t := range tasks[1:] {
		if t.Ended.After(whole.Ended) {
			whole.Ended = t.Ended
		}
	}
	if whole.State = j.State; j.Running > 0 {
		whole.State, whole.Ended = queue.Running, time.Time{}
	}
	return []queue.Task{whole}, 0
}

// before returns the seconds that a task had run when the window began.
func (r *reader) before(t *queue.Task) int64 {
	return int64(max(0, r.past.Window.From.Sub(t.Started)) / time.Second)
}

// ready returns the instant from which a job waited for its turn, and not for its begin time or for other
// jobs.
func (r *reader) ready(j *queue.Job) time.Time {
	at := j.Submitted
	if j.Begin.After(at) {
		at = j.Begin
	}
	for _, d := range j.After {
		if before := r.jobs[d.Job]; before != nil && before.Ended.After(at) {
			at = before.Ended
		}
	}
	if !j.Started.IsZero() && j.Started.Before(at) {
		return j.Started // an operator started it early, or it began again
	}
	return at
}

// finish fills unknown run times with the medians of other tasks, and sorts the tasks.
func (r *reader) finish() {
	known := medians(r.tasks)
	users, pools := map[string]int32{}, map[string]int32{}
	p := r.past
	for _, t := range r.tasks {
		run := t.run
		if run < 0 {
			guess, ok := known.of(t.job)
			if !ok && t.atLeast == 0 {
				p.Unknown++
				continue
			}
			p.Guessed++
			run = max(guess-t.before, t.atLeast)
		}
		width := max(1, t.job.Request[p.Window.Unit]) * int64(max(1, t.job.Gang))
		if width > int64(p.Procs) {
			p.TooWide++
			continue
		}
		limit, none := int64(forever), t.job.Limit == 0
		if !none {
			limit = max(int64(t.job.Limit/time.Second)-t.before, 1)
		}
		p.Jobs = append(p.Jobs, sim.Job{
			ID: t.job.ID, Submit: t.submit, Run: run, Estimate: max(limit,
				run), Procs: int32(width), NoLimit: none, Running: t.before > 0,
			User: number(users, &p.Users, t.job.User), Pool: number(pools, &p.Pools, t.job.Pool),
		})
	}
	slices.SortStableFunc(p.Jobs, func(a, b sim.Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
	})
}

// number numbers names in the order in which it meets them.
func number(known map[string]int32, names *[]string, name string) int32 {
	n, ok := known[name]
	if !ok {
		n = int32(len(*names))
		known[name], *names = n, append(*names, name)
	}
	return n
}

// typical holds the median run times of users, of pools and of all tasks.
type typical struct {
	user, pool map[string]int64
	all        int64
	any        bool
}

func medians(tasks []task) (m typical) {
	users, pools := map[string][]int64{}, map[string][]int64{}
	var all []int64
	for _, t := range tasks {
		if t.run >= 0 {
			run := t.run + t.before
			users[t.job.User], pools[t.job.Pool] = append(users[t.job.User], run), append(pools[t.job.Pool], run)
			all = append(all, run)
		}
	}
	m = typical{medianOf(users), medianOf(pools), sim.Percentile(all, 50), len(all) > 0}
	return m
}

func medianOf(runs map[string][]int64) map[string]int64 {
	out := map[string]int64{}
	for name, all := range runs {
		out[name] = sim.Percentile(all, 50)
	}
	return out
}

func (m *typical) of(j *queue.Job) (run int64, ok bool) {
	if run, ok = m.user[j.User]; ok {
		return run, true
	}
	if run, ok = m.pool[j.Pool]; ok {
		return run, true
	}
	return m.all, m.any
}
