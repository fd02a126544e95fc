package postgres

import (
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// uncancel makes the tasks of the job that were canceled wait again, and also the jobs that were canceled with it.
func (t *tx) uncancel(r *row, a queue.Alteration) (refused, err error) {
	states, err := t.firmStates(r)
	if err != nil {
		return nil, err
	}
	waitsFor, refused, err := life.Awaits(&r.Job, states)
	if err != nil || refused != nil {
		return refused, err
	}
	tasks, err := t.started(r)
	if err != nil {
		return nil, err
	}
	over, waiting, eligible := r.State.Ended(), r.Waiting, life.Eligible(&r.Job)
	before := life.UncancelEvents(&r.Job, tasks)
	changed, refused := life.Uncancel(&r.Job, tasks, len(waitsFor))
	if refused != nil {
		return refused, nil
	}
	t.noteAll(append(before, life.AlterEvent(&r.Job, a, t.trip.now)))
	t.jobs.save(r)
	r.next, r.returned = len(tasks), 0
	for _, k := range changed {
		t.tasks.save(r, k)
	}
	for _, k := range tasks {
		if k.State == queue.Waiting {
			r.returned++
		}
	}
	t.ledger.count(r.pool, r.Waiting-waiting, 0)
	if eligible { // a task that was going on has lost its node, and waits already
		t.withdrawn(r, "cancel undone")
	}
	for _, on := range waitsFor {
		t.trip.queue(`INSERT INTO @.depends (on_job, job) VALUES ($1, $2) ON CONFLICT DO NOTHING`, on, r.ID)
		delete(t.waitsFor, on) // its dependents must be queried again
	}
	if err := t.waited(r, "cancel undone"); err != nil || !over {
		return nil, err
	}
	return nil, t.uncancelDependents(r.ID)
}

// firmStates returns the states of the jobs on which a cancelled one depends. None of them can end before this
// transaction does.
func (t *tx) firmStates(r *row) (func(int64) (queue.State, error), error) {
	b := &submission{t: t, states: map[int64]queue.State{}}
	if r.Pending > 0 {
		var on []int64
		for _, d := range r.After {
			on = append(on, d.Job)
		}
		b.askStates(on, true)
		if err := t.trip.do(); err != nil {
			return nil, err
		}
	}
	return func(id int64) (queue.State, error) {
		if here := t.jobs.all[id]; here != nil { // it may have changed in this transaction
			return here.State, nil
		}
		return b.states[id], nil
	}, nil
}

// uncancelDependents brings back the jobs that were canceled because this one was.
func (t *tx) uncancelDependents(id int64) error {
	t.askDependents([]int64{id})
	if err := t.trip.do(); err != nil {
		return err
	}
	dependents := t.waitsFor[id]
	if err := t.jobs.loadEnded(dependents); err != nil {
		return err
	}
	for _, d := range dependents {
		r := t.jobs.all[d]
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
