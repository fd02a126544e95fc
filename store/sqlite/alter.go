package sqlite

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Alter implements fairlead.Store.
func (s *Store) Alter(ctx context.Context, changes []fairlead.Alteration) ([]error, error) {
	out := make([]error, len(changes))
	err := s.write(ctx, false, func(t *tx) (err error) {
		for i, c := range changes {
			if out[i], err = t.alter(c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *tx) alter(a fairlead.Alteration) (refused, err error) {
	t.takeFresh(a.Job)
	r, err := t.load(a.Job)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return fairlead.ErrNotFound, nil
	}
	if refused := life.Allowed(&r.Job, a); refused != nil {
		return refused, nil
	}
	if err := t.note(life.AlterEvent(a, t.now)); err != nil {
		return nil, err
	}
	switch a.Verb {
	case fairlead.VerbCancel:
		return nil, t.cancel(r, a.Cause)
	case fairlead.VerbHold:
		t.withdrawn(r, "held")
		r.Held = true
		r.State = life.State(&r.Job)
	case fairlead.VerbRelease:
		r.Held = false
		r.State = life.State(&r.Job)
		err = t.waited(r, "released")
	case fairlead.VerbRequeue:
		return nil, t.requeue(r)
	case fairlead.VerbPrioritise:
		t.withdrawn(r, "priority changed")
		life.Raise(&r.Job, a)
		t.then(func(s *Store) { s.reprioritise(&r.Job) })
		err = t.waited(r, "priority changed")
		if a.QOS != nil || a.Nice != nil {
			err = errors.Join(err, t.saveSpec(r))
		}
	case fairlead.VerbMove:
		err = t.move(r, a)
	}
	return nil, errors.Join(err, t.save(r))
}

// move puts a job of which no task runs into another pool.
func (t *tx) move(r *row, a fairlead.Alteration) error {
	pool, err := t.pool(a.Pool)
	if err != nil {
		return err
	}
	t.withdrawn(r, "moved to "+a.Pool)
	t.count(r.pool, -r.Waiting, 0)
	life.Move(&r.Job, a)
	r.pool = pool
	t.count(r.pool, r.Waiting, 0)
	b := binder{stmt: t.conn.Prep(`UPDATE job SET pool = ? WHERE id = ?`)}
	return errors.Join(exec(b.int64(pool).int64(r.ID).stmt), t.saveSpec(r), t.waited(r, "moved to "+a.Pool))
}

// reprioritise changes what is kept in memory of a running job that has one task.
func (s *Store) reprioritise(j *fairlead.Job) {
	if l := s.runs[taskKey{j.ID, 0}]; l != nil {
		l.job.Priority, l.job.QOS, l.job.Nice = j.Priority, j.QOS, j.Nice
	}
}

// saveSpec writes what seldom changes of a job.
func (t *tx) saveSpec(r *row) error {
	blob, err := specOf(&r.Job)
	if err != nil {
		return err
	}
	b := binder{stmt: t.conn.Prep(`UPDATE job SET spec = ?2 WHERE id = ?1`)}
	b.int64(r.ID).stmt.BindBytes(2, blob)
	return exec(b.stmt)
}

// withdrawn tells the feed that none of the job's tasks waits any more.
func (t *tx) withdrawn(r *row, why string) {
	if life.Eligible(&r.Job) {
		t.tell(fairlead.Change{What: fairlead.Withdrawn, Job: life.Header(&r.Job), State: r.State, Reason: why})
	}
}

func (t *tx) cancel(r *row, cause string) error {
	t.withdrawn(r, cause)
	waiting := r.Waiting
	if !life.Cancel(&r.Job, cause, t.now) {
		return nil
	}
	t.count(r.pool, -waiting, 0)
	if r.returned > 0 && r.Tasks > 1 {
		stmt := t.conn.Prep(`UPDATE task SET t_state = 6 WHERE job = ? AND t_state = 2`)
		stmt.BindInt64(1, r.ID)
		if err := exec(stmt); err != nil {
			return err
		}
	} else if r.returned > 0 {
		r.one.State = fairlead.Cancelled
	}
	r.returned, r.next = 0, r.Tasks
	if err := errors.Join(t.stop(r, cause), t.save(r)); err != nil {
		return err
	}
	if r.State.Ended() {
		return t.ended(life.Header(&r.Job), r.State, r.Cause)
	}
	return nil
}

// stop tells the feed which tasks of the job have to be stopped.
func (t *tx) stop(r *row, why string) error {
	if r.Running == 0 {
		return nil
	}
	c := fairlead.Change{What: fairlead.Stop, Job: life.Header(&r.Job), State: r.State, Reason: why}
	tasks, err := t.running(r)
	for i := range tasks {
		c.Runs = append(c.Runs, life.Run(&tasks[i]))
	}
	t.tell(c)
	return err
}

func (t *tx) running(r *row) ([]fairlead.Task, error) {
	if r.Tasks == 1 {
		return []fairlead.Task{r.one}, nil
	}
	return tasksOf(t.conn, r, `AND t_state = 3`)
}

// requeue lets what ran, runs or was cancelled wait again.
func (t *tx) requeue(r *row) error {
	if r.State.Ended() {
		return t.reset(r)
	}
	tasks, err := t.running(r)
	if err != nil {
		return err
	}
	for i := range tasks {
		tasks[i].Requeue = true
		if err := t.saveTask(r, &tasks[i]); err != nil {
			return err
		}
	}
	return errors.Join(t.stop(r, "requeued"), t.save(r))
}

func (t *tx) reset(r *row) error {
	life.Reset(&r.Job)
	tasks, err := tasksOf(t.conn, r, "")
	if r.Tasks == 1 && r.one.Attempt > 0 {
		tasks = []fairlead.Task{r.one}
	}
	if err != nil {
		return err
	}
	for i := range tasks {
		k := &tasks[i]
		*k = fairlead.Task{Job: k.Job, Index: k.Index, Number: k.Number, Attempt: k.Attempt, State: fairlead.Waiting}
		if err := t.saveTask(r, k); err != nil {
			return err
		}
	}
	r.returned, r.next = len(tasks), len(tasks)
	t.count(r.pool, r.Waiting, 0)
	return errors.Join(t.waited(r, "requeued"), t.save(r))
}
