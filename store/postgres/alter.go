package postgres

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Alter implements fairlead.Store.
func (s *Store) Alter(ctx context.Context, changes []fairlead.Alteration) (out []error, err error) {
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = c.Job
	}
	err = s.write(ctx, func(t *tx) error {
		out = make([]error, len(changes))
		t.askRows(ids)
		if err := t.do(); err != nil {
			return err
		}
		if err := t.loadEnded(ids); err != nil {
			return err
		}
		for i, c := range changes {
			var err error
			if out[i], err = t.alter(c); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func (t *tx) alter(a fairlead.Alteration) (refused, err error) {
	r := t.rows[a.Job]
	if r == nil {
		return fairlead.ErrNotFound, nil
	}
	if refused := life.Allowed(&r.Job, a); refused != nil {
		return refused, nil
	}
	t.note(life.AlterEvent(a, t.now))
	t.save(r)
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
		return nil, t.waited(r, "released")
	case fairlead.VerbRequeue:
		return nil, t.requeue(r)
	case fairlead.VerbPrioritise:
		t.withdrawn(r, "priority changed")
		life.Raise(&r.Job, a)
		r.respec = r.respec || a.QOS != nil || a.Nice != nil
		return nil, t.waited(r, "priority changed")
	case fairlead.VerbMove:
		return nil, t.move(r, a)
	}
	return nil, nil
}

// move puts a job of which no task runs into another pool.
func (t *tx) move(r *row, a fairlead.Alteration) error {
	t.askPools(map[string]bool{a.Pool: true})
	if err := t.do(); err != nil {
		return err
	}
	pool, err := t.intern(a.Pool)
	if err != nil {
		return err
	}
	t.withdrawn(r, "moved to "+a.Pool)
	t.count(r.pool, -r.Waiting, 0)
	life.Move(&r.Job, a)
	r.pool, r.respec = pool, true
	t.count(r.pool, r.Waiting, 0)
	return t.waited(r, "moved to "+a.Pool)
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
	t.save(r)
	t.count(r.pool, -waiting, 0)
	if r.returned > 0 && r.Tasks > 1 {
		back, err := t.tasksOf(r, `AND t_state = 2`)
		if err != nil {
			return err
		}
		for _, k := range back {
			k.State = fairlead.Cancelled
			t.saveTask(r, k)
		}
	} else if r.returned > 0 {
		r.one.State = fairlead.Cancelled
	}
	r.returned, r.next = 0, r.Tasks
	if err := t.stop(r, cause); err != nil {
		return err
	}
	if r.State.Ended() {
		return t.ended(&r.Job)
	}
	return nil
}

// stop tells the feed which tasks of the job have to be stopped.
func (t *tx) stop(r *row, why string) error {
	if r.Running == 0 {
		return nil
	}
	tasks, err := t.running(r)
	t.tell(fairlead.Change{What: fairlead.Stop, Job: life.Header(&r.Job), State: r.State, Reason: why, Runs: runsOf(tasks)})
	return err
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
	for _, k := range tasks {
		k.Requeue = true
		t.saveTask(r, k)
	}
	return t.stop(r, "requeued")
}

func (t *tx) reset(r *row) (err error) {
	life.Reset(&r.Job)
	var tasks []*fairlead.Task
	if r.Tasks > 1 {
		if tasks, err = t.tasksOf(r, ""); err != nil {
			return err
		}
	} else if r.one.Attempt > 0 {
		tasks = []*fairlead.Task{&r.one}
	}
	for _, k := range tasks {
		*k = fairlead.Task{Job: k.Job, Index: k.Index, Number: k.Number, Attempt: k.Attempt, State: fairlead.Waiting}
		t.saveTask(r, k)
	}
	r.returned, r.next = len(tasks), len(tasks)
	t.count(r.pool, r.Waiting, 0)
	return t.waited(r, "requeued")
}
