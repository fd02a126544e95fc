package postgres

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

type taskKey struct {
	job int64
	idx int
}

// taskNames are the columns of a task.
const taskNames = `job, idx, attempt, holder, t_state, t_begin, t_started, t_ended, fails, losses, again, outcome, charge, until`

// scanTask reads them, without the task's number, which has no column.
func scanTask(rows pgx.Rows) (*queue.Task, error) {
	var c taskColumns
	k := &queue.Task{}
	if err := rows.Scan(append([]any{&k.Job, &k.Index}, c.into(k)...)...); err != nil {
		return nil, err
	}
	return k, c.finish(k)
}

// taskRows are the tasks that a transaction has read.
type taskRows struct {
	trip    *trip
	jobs    *jobRows
	all     map[taskKey]*queue.Task
	touched []taskKey // must be written
	dirty   map[taskKey]bool
}

// ask queries some tasks of arrays and gangs with the next do.
func (x *taskRows) ask(refs []queue.Ref) {
	if len(refs) == 0 {
		return
	}
	var jobs []int64
	var idx []int32
	for _, r := range refs {
		jobs, idx = append(jobs, r.JobID), append(idx, int32(r.Task))
	}
	x.trip.ask(`SELECT t.* FROM unnest($1::bigint[], $2::int[]) AS w (j, i), LATERAL (SELECT `+taskNames+` FROM @.task WHERE job = w.j AND idx = w.i OFFSET 0) AS t`, x.keep, jobs, idx)
}

func (x *taskRows) keep(rows pgx.Rows) error {
	k, err := scanTask(rows)
	if err == nil {
		x.remember(k)
	}
	return err
}

func (x *taskRows) remember(k *queue.Task) {
	if x.all == nil {
		x.all = map[taskKey]*queue.Task{}
	}
	x.all[taskKey{k.Job, k.Index}] = k
}

// of returns a task of a job; nil if it never started. Tasks of arrays and gangs must have been queried before.
func (x *taskRows) of(r *row, idx int) *queue.Task {
	if r.Tasks == 1 {
		if idx != 0 || r.one.Attempt == 0 {
			return nil
		}
		return &r.one
	}
	k := x.all[taskKey{r.ID, idx}]
	if k != nil {
		k.Number = r.Numbers().At(idx)
	}
	return k
}

// read reads tasks of an array or gang, by index.
func (x *taskRows) read(r *row, where string, args ...any) (out []*queue.Task, err error) {
	if err := x.write(); err != nil {
		return nil, err
	}
	x.trip.ask(`SELECT `+taskNames+` FROM @.task WHERE job = $1 `+where+` ORDER BY idx`, func(rows pgx.Rows) error {
		k, err := scanTask(rows)
		if err == nil {
			out = append(out, k)
			x.remember(k)
		}
		return err
	}, append([]any{r.ID}, args...)...)
	err = x.trip.do()
	numbers := r.Numbers()
	for _, k := range out {
		k.Number = numbers.At(k.Index)
	}
	return out, err
}

// save marks a task as changed. The task of a job with one task is written with the job.
func (x *taskRows) save(r *row, k *queue.Task) {
	if r.Tasks == 1 {
		r.one = *k
		x.jobs.save(r)
		return
	}
	x.remember(k)
	if x.dirty == nil {
		x.dirty = map[taskKey]bool{}
	}
	if key := (taskKey{k.Job, k.Index}); !x.dirty[key] {
		x.dirty[key] = true
		x.touched = append(x.touched, key)
	}
}

// write writes the changed tasks.
func (x *taskRows) write() error {
	if len(x.touched) == 0 {
		return nil
	}
	slices.SortFunc(x.touched, func(a, b taskKey) int { return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.idx, b.idx)) })
	var jobs, begin, started, ended, until []int64
	var idx, attempt, fails, losses []int32
	var state, again []int16
	var holder, outcomes []string
	var charge []float64
	for _, key := range x.touched {
		k := x.all[key]
		outcome, err := life.OutcomeText(k.Outcome)
		if err != nil {
			return err
		}
		jobs, idx = append(jobs, k.Job), append(idx, int32(k.Index))
		attempt, holder = append(attempt, int32(k.Attempt)), append(holder, k.Holder)
		state, begin = append(state, int16(life.StateNumber(k.State))), append(begin, life.Nanos(k.Begin))
		started, ended = append(started, life.Nanos(k.Started)), append(ended, life.Nanos(k.Ended))
		fails, losses = append(fails, int32(k.Fails)), append(losses, int32(k.Losses))
		again = append(again, int16(life.AgainBits(k)))
		outcomes, charge, until = append(outcomes, outcome), append(charge, k.Charge), append(until, life.Nanos(k.Until))
	}
	x.touched, x.dirty = nil, nil
	// A lease may just have been renewed while its attempt runs: that locks only the task.
	x.trip.queue(`INSERT INTO @.task (`+taskNames+`) SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::smallint[], $6::bigint[],
		$7::bigint[], $8::bigint[], $9::int[], $10::int[], $11::smallint[], $12::text[], $13::float8[], $14::bigint[])
		ON CONFLICT (job, idx) DO UPDATE SET attempt = excluded.attempt, holder = excluded.holder, t_state = excluded.t_state,
		t_begin = excluded.t_begin, t_started = excluded.t_started, t_ended = excluded.t_ended, fails = excluded.fails,
		losses = excluded.losses, again = excluded.again, outcome = excluded.outcome, charge = excluded.charge,
		until = CASE task.attempt WHEN excluded.attempt THEN task.until ELSE excluded.until END`,
		jobs, idx, attempt, holder, state, begin, started, ended, fails, losses, again, outcomes, charge, until)
	return nil
}

// byTask is the order in which tasks are locked.
func byTask(a, b queue.Ref) int {
	return cmp.Or(cmp.Compare(a.JobID, b.JobID), cmp.Compare(a.Task, b.Task))
}
