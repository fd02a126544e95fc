package postgres

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// taskNames are the columns of a task.
const taskNames = `job, idx, attempt, holder, t_state, t_begin, t_started, t_ended, fails, losses, again, outcome, charge, until`

// scanTask reads them. The task's number is not among them.
func scanTask(rows pgx.Rows) (*fairlead.Task, error) {
	var c taskColumns
	k := &fairlead.Task{}
	if err := rows.Scan(append([]any{&k.Job, &k.Index}, c.into(k)...)...); err != nil {
		return nil, err
	}
	return k, c.finish(k)
}

// askTasks reads some tasks of arrays and gangs with the next do.
func (t *tx) askTasks(refs []fairlead.Ref) {
	if len(refs) == 0 {
		return
	}
	var jobs []int64
	var idx []int32
	for _, r := range refs {
		jobs, idx = append(jobs, r.JobID), append(idx, int32(r.Task))
	}
	t.ask(`SELECT t.* FROM unnest($1::bigint[], $2::int[]) AS w (j, i), LATERAL (SELECT `+taskNames+` FROM @.task WHERE job = w.j AND idx = w.i OFFSET 0) AS t`, t.keepTask, jobs, idx)
}

func (t *tx) keepTask(rows pgx.Rows) error {
	k, err := scanTask(rows)
	if err == nil {
		t.remember(k)
	}
	return err
}

func (t *tx) remember(k *fairlead.Task) {
	if t.tasks == nil {
		t.tasks = map[taskKey]*fairlead.Task{}
	}
	t.tasks[taskKey{k.Job, k.Index}] = k
}

// task is a task of a job; nil if it never started. Those of arrays and gangs have been
// asked for.
func (t *tx) task(r *row, idx int) *fairlead.Task {
	if r.Tasks == 1 {
		if idx != 0 || r.one.Attempt == 0 {
			return nil
		}
		return &r.one
	}
	k := t.tasks[taskKey{r.ID, idx}]
	if k != nil {
		k.Number = r.Numbers().At(idx)
	}
	return k
}

// tasksOf reads tasks of an array or gang, by index.
func (t *tx) tasksOf(r *row, where string, args ...any) (out []*fairlead.Task, err error) {
	if err := t.saveTasks(); err != nil {
		return nil, err
	}
	t.ask(`SELECT `+taskNames+` FROM @.task WHERE job = $1 `+where+` ORDER BY idx`, func(rows pgx.Rows) error {
		k, err := scanTask(rows)
		if err == nil {
			out = append(out, k)
			t.remember(k)
		}
		return err
	}, append([]any{r.ID}, args...)...)
	err = t.do()
	numbers := r.Numbers()
	for _, k := range out {
		k.Number = numbers.At(k.Index)
	}
	return out, err
}

// saveTask notes that a task has to be written. That of a job with one task is written
// with the job.
func (t *tx) saveTask(r *row, k *fairlead.Task) {
	if r.Tasks == 1 {
		r.one = *k
		t.save(r)
		return
	}
	t.remember(k)
	if t.isDirty == nil {
		t.isDirty = map[taskKey]bool{}
	}
	if key := (taskKey{k.Job, k.Index}); !t.isDirty[key] {
		t.isDirty[key] = true
		t.touched = append(t.touched, key)
	}
}

// saveTasks writes the tasks that changed.
func (t *tx) saveTasks() error {
	if len(t.touched) == 0 {
		return nil
	}
	slices.SortFunc(t.touched, func(a, b taskKey) int { return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.idx, b.idx)) })
	var jobs, begin, started, ended, until []int64
	var idx, attempt, fails, losses []int32
	var state, again []int16
	var holder, outcomes []string
	var charge []float64
	for _, key := range t.touched {
		k := t.tasks[key]
		outcome, err := life.OutcomeText(k.Outcome)
		if err != nil {
			return err
		}
		jobs, idx, attempt, holder = append(jobs, k.Job), append(idx, int32(k.Index)), append(attempt, int32(k.Attempt)), append(holder, k.Holder)
		state, begin = append(state, int16(life.StateNumber(k.State))), append(begin, life.Nanos(k.Begin))
		started, ended = append(started, life.Nanos(k.Started)), append(ended, life.Nanos(k.Ended))
		fails, losses, again = append(fails, int32(k.Fails)), append(losses, int32(k.Losses)), append(again, int16(life.AgainBits(k)))
		outcomes, charge, until = append(outcomes, outcome), append(charge, k.Charge), append(until, life.Nanos(k.Until))
	}
	t.touched, t.isDirty = nil, nil
	// While an attempt runs its lease may just have been renewed: that locks the task only.
	t.queue(`INSERT INTO @.task (`+taskNames+`) SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::smallint[], $6::bigint[],
		$7::bigint[], $8::bigint[], $9::int[], $10::int[], $11::smallint[], $12::text[], $13::float8[], $14::bigint[])
		ON CONFLICT (job, idx) DO UPDATE SET attempt = excluded.attempt, holder = excluded.holder, t_state = excluded.t_state,
		t_begin = excluded.t_begin, t_started = excluded.t_started, t_ended = excluded.t_ended, fails = excluded.fails,
		losses = excluded.losses, again = excluded.again, outcome = excluded.outcome, charge = excluded.charge,
		until = CASE task.attempt WHEN excluded.attempt THEN task.until ELSE excluded.until END`,
		jobs, idx, attempt, holder, state, begin, started, ended, fails, losses, again, outcomes, charge, until)
	return nil
}

// holder finds the attempt that ref names, of which the job and the task have been asked
// for; stale says that it is not the current one.
func (t *tx) holder(ref fairlead.Ref) (r *row, k *fairlead.Task, stale error) {
	r = t.rows[ref.JobID]
	if r == nil {
		return nil, nil, fairlead.ErrStaleAttempt // it has ended, or there is none
	}
	k = t.task(r, ref.Task)
	if r.State.Ended() || k == nil || k.State != fairlead.Running || k.Attempt != ref.Attempt {
		return r, k, fairlead.ErrStaleAttempt
	}
	return r, k, nil
}

// askHolders reads what holder needs, and who depends on the jobs, with the next do.
func (t *tx) askHolders(refs []fairlead.Ref) {
	if len(refs) == 0 {
		return
	}
	ids := make([]int64, len(refs))
	for i, r := range refs {
		ids[i] = r.JobID
	}
	t.askRows(ids)
	t.askTasks(refs)
	t.askDependents(ids)
}

// askDependents reads, with the next do, who depends on jobs that are locked.
func (t *tx) askDependents(ids []int64) {
	if t.waitsFor == nil {
		t.waitsFor = map[int64][]int64{}
	}
	for _, id := range ids {
		t.waitsFor[id] = nil
	}
	t.ask(`SELECT on_job, job FROM @.depends WHERE on_job = ANY($1) ORDER BY on_job, job`, func(rows pgx.Rows) error {
		var on, job int64
		err := rows.Scan(&on, &job)
		t.waitsFor[on] = append(t.waitsFor[on], job)
		return err
	}, ids)
}
