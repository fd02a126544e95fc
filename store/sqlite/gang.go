package sqlite

import (
	"errors"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// regroup handles the other tasks of a gang after the end of an attempt was written.
func (t *tx) regroup(r *row, k *queue.Task, p life.Parting) error {
	switch {
	case p.Apart(&r.Job):
		others, err := t.running(r)
		if err != nil {
			return err
		}
		var runs []queue.Run
		for i := range others {
			runs = append(runs, life.Run(&others[i]))
		}
		t.report(p.Change(&r.Job, k, runs, t.now))
		return t.note(p.Event(&r.Job, k, t.now))
	case life.Together(&r.Job):
		return t.gather(r)
	}
	return nil
}

// gather makes all tasks of a gang wait again.
func (t *tx) gather(r *row) error {
	tasks, err := tasksOf(t.conn, r, "")
	if err != nil {
		return err
	}
	more, undone := life.Gather(&r.Job, pointers(tasks), t.now)
	t.ledger.count(r.pool, more, 0)
	err = t.noteAll(undone)
	for i := range tasks {
		err = errors.Join(err, t.saveTask(r, &tasks[i]))
	}
	r.returned = r.Tasks
	return errors.Join(err, t.waited(r, "again"))
}
