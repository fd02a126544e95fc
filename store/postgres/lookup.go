package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// job returns a job that was read, nil if there is none.
func (t *tx) job(id int64) (*queue.Job, error) {
	if r := t.jobs.all[id]; r != nil {
		return &r.Job, nil
	}
	return nil, nil
}

// holder finds the attempt that ref names; its job and its task must have been read before. The result "stale" is the
// error if that attempt is not the current one.
func (t *tx) holder(ref queue.Ref) (r *row, k *queue.Task, stale error) {
	r = t.jobs.all[ref.JobID]
	if r == nil {
		return nil, nil, queue.ErrStaleAttempt // it has ended, or there is none
	}
	k = t.tasks.of(r, ref.Task)
	if r.State.Ended() || k == nil || k.State != queue.Running || k.Attempt != ref.Attempt {
		return r, k, queue.ErrStaleAttempt
	}
	return r, k, nil
}

// askHolders queries, with the next do, the data for holder, and the jobs that depend on the jobs of the attempts.
func (t *tx) askHolders(refs []queue.Ref) {
	if len(refs) == 0 {
		return
	}
	ids := make([]int64, len(refs))
	for i, r := range refs {
		ids[i] = r.JobID
	}
	t.jobs.ask(ids)
	t.tasks.ask(refs)
	t.askDependents(ids)
}

// askDependents queries, with the next do, the jobs that depend on locked jobs.
func (t *tx) askDependents(ids []int64) {
	if t.waitsFor == nil {
		t.waitsFor = map[int64][]int64{}
	}
	for _, id := range ids {
		t.waitsFor[id] = nil
	}
	t.trip.ask(`SELECT on_job, job FROM @.depends WHERE on_job = ANY($1) ORDER BY on_job, job`, func(rows pgx.Rows) error {
		var on, job int64
		err := rows.Scan(&on, &job)
		t.waitsFor[on] = append(t.waitsFor[on], job)
		return err
	}, ids)
}

// started returns the tasks of a job that have started at least once, by index.
func (t *tx) started(r *row) ([]*queue.Task, error) {
	switch {
	case r.Tasks > 1:
		return t.tasks.read(r, "")
	case r.one.Attempt > 0:
		return []*queue.Task{&r.one}, nil
	}
	return nil, nil
}

// running returns the running tasks of a job.
func (t *tx) running(r *row) ([]*queue.Task, error) {
	if r.Tasks == 1 {
		return []*queue.Task{&r.one}, nil
	}
	return t.tasks.read(r, `AND t_state = 3`)
}

func runsOf(tasks []*queue.Task) (runs []queue.Run) {
	for _, k := range tasks {
		runs = append(runs, life.Run(k))
	}
	return runs
}
