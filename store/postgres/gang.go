package postgres

import (
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// regroup handles the other tasks of a gang after the end of an attempt was recorded.
func (t *tx) regroup(r *row, k *queue.Task, p life.Parting) error {
	switch {
	case p.Apart(&r.Job):
		others, err := t.running(r)
		if err != nil {
			return err
		}
		t.report(p.Change(&r.Job, k, runsOf(others), t.trip.now))
		t.note(p.Event(&r.Job, k, t.trip.now))
	case life.Together(&r.Job):
		return t.gather(r)
	}
	return nil
}

// gather makes all tasks of a gang wait again.
func (t *tx) gather(r *row) error {
	tasks, err := t.tasks.read(r, "")
	if err != nil {
		return err
	}
	more, undone := life.Gather(&r.Job, tasks, t.trip.now)
	t.ledger.count(r.pool, more, 0)
	t.noteAll(undone)
	for _, k := range tasks {
		t.tasks.save(r, k)
	}
	r.returned = r.Tasks
	t.jobs.save(r)
	return t.waited(r, "again")
}
