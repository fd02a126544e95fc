package sqlite

import (
	"errors"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// uncancel makes the canceled tasks of the job wait again, and the jobs that were canceled with it.
func (t *tx) uncancel(r *row, a queue.Alteration) (refused, err error) {
	waitsFor, refused, err := life.Awaits(&r.Job, t.stateOf)
	if err != nil || refused != nil {
		return refused, err
	}
	started, err := t.started(r)
	if err != nil {
		return nil, err
	}
	over, waiting, eligible := r.State.Ended(), r.Waiting, life.Eligible(&r.Job)
	before := life.UncancelEvents(&r.Job, pointers(started))
	changed, refused := life.Uncancel(&r.Job, pointers(started), len(waitsFor))
	if refused != nil {
		return refused, nil
	}
	r.next, r.returned = len(started), 0
	for _, k := range changed {
		if err := t.saveTask(r, k); err != nil {
			return nil, err
		}
	}
	for i := range started {
		if started[i].State == queue.Waiting {
			r.returned++
		}
	}
	t.ledger.count(r.pool, r.Waiting-waiting, 0)
	if eligible { // a task that still ran after the cancellation has lost its node, and waits already
		t.withdrawn(r, "cancel undone")
	}
	err = errors.Join(t.noteAll(before), t.note(life.AlterEvent(&r.Job, a, t.now)), t.await(r.ID, waitsFor), t.waited(r, "cancel undone"), t.save(r))
	if err == nil && over {
		err = t.uncancelDependents(r.ID)
	}
	return nil, err
}

// uncancelDependents brings back the jobs that were canceled because this one was.
func (t *tx) uncancelDependents(id int64) error {
	waiting, err := dependents(t.conn, id)
	if err != nil {
		return err
	}
	for _, d := range waiting {
		r, err := t.load(d)
		if err != nil {
			return err
		}
		if r == nil || !life.Along(&r.Job) {
			continue
		}
		// If refused, the job stays cancelled.
		if _, err := t.uncancel(r, life.UncancelWith(d, id)); err != nil {
			return err
		}
	}
	return nil
}
