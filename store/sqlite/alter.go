package sqlite

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Alter implements queue.Store.
func (s *Store) Alter(ctx context.Context, changes []queue.Alteration) (out []error, err error) {
	err = s.write(ctx, false, func(t *tx) (err error) {
		out, err = life.AlterAll(changes, t.job, t.alter)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// job reads a job, nil if there is none.
func (t *tx) job(id int64) (*queue.Job, error) {
	r, err := t.load(id)
	if err != nil || r == nil {
		return nil, err
	}
	return &r.Job, nil
}

func (t *tx) alter(a queue.Alteration) (refused, err error) {
	t.mem.takeFresh(a.Job)
	r, err := t.load(a.Job)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return queue.NoJob(a.Job), nil
	}
	if refused := life.Allowed(&r.Job, a); refused != nil {
		return refused, nil
	}
	if a.Verb == queue.VerbUncancel {
		return t.uncancel(r, a)
	}
	if a.Verb == queue.VerbRequeue && r.State.Ended() {
		if err := t.noteEnd(r); err != nil {
			return nil, err
		}
	}
	if err := t.note(life.AlterEvent(&r.Job, a, t.now)); err != nil {
		return nil, err
	}
	switch a.Verb {
	case queue.VerbCancel:
		return nil, t.cancel(r, a)
	case queue.VerbHold:
		t.withdrawn(r, "held")
		life.Hold(&r.Job, a)
		err = t.saveSpec(r)
	case queue.VerbRelease:
		if life.LetGo(&r.Job) {
			err = t.saveSpec(r)
		}
		err = errors.Join(err, t.waited(r, "released"))
	case queue.VerbRequeue:
		return nil, t.requeue(r)
	case queue.VerbPrioritise:
		t.withdrawn(r, "priority changed")
		life.Raise(&r.Job, a)
		t.then(func(m *memory) { m.reprioritise(&r.Job) })
		err = t.waited(r, "priority changed")
		if a.QOS != nil || a.Nice != nil {
			err = errors.Join(err, t.saveSpec(r))
		}
	case queue.VerbLimit:
		t.withdrawn(r, "time limit changed")
		life.Raise(&r.Job, a)
		err = errors.Join(t.waited(r, "time limit changed"), t.saveSpec(r))
	case queue.VerbMove:
		err = t.move(r, a)
	}
	return nil, errors.Join(err, t.save(r))
}

// move moves a job without running tasks to another pool.
func (t *tx) move(r *row, a queue.Alteration) error {
	pool, err := t.numbers.pool(a.Pool, r.User)
	if err != nil {
		return err
	}
	t.withdrawn(r, "moved to "+a.Pool)
	t.ledger.count(r.pool, -r.Waiting, 0)
	life.Move(&r.Job, a)
	r.pool = pool
	t.ledger.count(r.pool, r.Waiting, 0)
	b := binder{stmt: t.conn.Prep(`UPDATE job SET pool = ? WHERE id = ?`)}
	return errors.Join(exec(b.int64(pool).int64(r.ID).stmt), t.saveSpec(r), t.waited(r, "moved to "+a.Pool))
}

// reprioritise changes the copy in memory of a running job that has one task.
func (m *memory) reprioritise(j *queue.Job) {
	if l := m.runs[taskKey{j.ID, 0}]; l != nil {
		l.job.Priority, l.job.QOS, l.job.Nice = j.Priority, j.QOS, j.Nice
	}
}

// requeue makes tasks that ran, run or were canceled wait again.
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
	if len(r.Avoid) > 0 {
		r.Avoid = nil
		if err := t.saveSpec(r); err != nil {
			return err
		}
	}
	tasks, err := t.started(r)
	if err != nil {
		return err
	}
	life.Reset(&r.Job)
	for i := range tasks {
		k := &tasks[i]
		*k = queue.Task{Job: k.Job, Index: k.Index, Number: k.Number, Attempt: k.Attempt, State: queue.Waiting}
		if err := t.saveTask(r, k); err != nil {
			return err
		}
	}
	r.returned, r.next = len(tasks), len(tasks)
	t.ledger.count(r.pool, r.Waiting, 0)
	return errors.Join(t.waited(r, "requeued"), t.save(r))
}

// noteEnd records the data of an ended job that is lost when it waits again.
func (t *tx) noteEnd(r *row) error {
	tasks, err := t.started(r)
	if err != nil {
		return err
	}
	return t.noteAll(life.ResetEvents(&r.Job, pointers(tasks)))
}
