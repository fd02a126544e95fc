package postgres

import (
	"context"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Alter implements queue.Store.
func (s *Store) Alter(ctx context.Context, changes []queue.Alteration) (out []error, err error) {
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = c.Job
	}
	err = s.writer.do(ctx, func(t *tx) (err error) {
		t.jobs.ask(ids)
		if err := t.trip.do(); err != nil {
			return err
		}
		if err := t.jobs.loadEnded(ids); err != nil {
			return err
		}
		out, err = life.AlterAll(changes, t.job, t.alter)
		return err
	})
	return out, err
}

func (t *tx) alter(a queue.Alteration) (refused, err error) {
	r := t.jobs.all[a.Job]
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
	t.note(life.AlterEvent(&r.Job, a, t.trip.now))
	t.jobs.save(r)
	switch a.Verb {
	case queue.VerbCancel:
		return nil, t.cancel(r, a)
	case queue.VerbHold:
		t.withdrawn(r, "held")
		life.Hold(&r.Job, a)
		r.respec = true
	case queue.VerbRelease:
		r.respec = life.LetGo(&r.Job) || r.respec
		return nil, t.waited(r, "released")
	case queue.VerbRequeue:
		return nil, t.requeue(r)
	case queue.VerbPrioritise:
		t.withdrawn(r, "priority changed")
		life.Raise(&r.Job, a)
		r.respec = r.respec || a.QOS != nil || a.Nice != nil
		return nil, t.waited(r, "priority changed")
	case queue.VerbLimit:
		t.withdrawn(r, "time limit changed")
		life.Raise(&r.Job, a)
		r.respec = true
		return nil, t.waited(r, "time limit changed")
	case queue.VerbMove:
		return nil, t.move(r, a)
	}
	return nil, nil
}

// move moves a job without running tasks to another pool.
func (t *tx) move(r *row, a queue.Alteration) error {
	t.pools.ask(map[string]string{a.Pool: r.User})
	if err := t.trip.do(); err != nil {
		return err
	}
	pool, err := t.pools.intern(a.Pool, r.User)
	if err != nil {
		return err
	}
	t.withdrawn(r, "moved to "+a.Pool)
	t.ledger.count(r.pool, -r.Waiting, 0)
	life.Move(&r.Job, a)
	r.pool, r.respec = pool, true
	t.ledger.count(r.pool, r.Waiting, 0)
	return t.waited(r, "moved to "+a.Pool)
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
	for _, k := range tasks {
		k.Requeue = true
		t.tasks.save(r, k)
	}
	return t.stop(r, "requeued")
}

func (t *tx) reset(r *row) error {
	r.respec = r.respec || len(r.Avoid) > 0
	tasks, err := t.started(r)
	if err != nil {
		return err
	}
	life.Reset(&r.Job)
	for _, k := range tasks {
		*k = queue.Task{Job: k.Job, Index: k.Index, Number: k.Number, Attempt: k.Attempt, State: queue.Waiting}
		t.tasks.save(r, k)
	}
	r.returned, r.next = len(tasks), len(tasks)
	t.ledger.count(r.pool, r.Waiting, 0)
	return t.waited(r, "requeued")
}

// noteEnd records the data of an ended job that is lost when it waits again.
func (t *tx) noteEnd(r *row) error {
	tasks, err := t.started(r)
	t.noteAll(life.ResetEvents(&r.Job, tasks))
	return err
}
