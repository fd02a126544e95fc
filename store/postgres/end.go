package postgres

import (
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// chargeTask records the service of an attempt that ended at an instant.
func (t *tx) chargeTask(r *row, k *queue.Task, ended time.Time, learn bool) error {
	from, to, learn := life.Served(k, ended, learn)
	return t.ledger.charge(r.pool, life.Rate(k.Charge, r.Request, t.db.options.Unit), from, to, learn)
}

// returnTask writes a task whose attempt ended: it waits again, or is over.
func (t *tx) returnTask(r *row, k *queue.Task, again bool, p life.Parting) error {
	if again {
		r.returned++
		t.ledger.count(r.pool, +1, 0)
		if life.Eligible(&r.Job) && r.Gang < 2 {
			w := []queue.Waits{{Tasks: 1, Begin: k.Begin}}
			t.report(queue.Change{What: queue.Waited, Job: life.Header(&r.Job), Waits: w, State: r.State, Reason: "again"})
		}
	}
	t.tasks.save(r, k)
	t.jobs.save(r)
	if err := t.regroup(r, k, p); err != nil {
		return err
	}
	if r.State.Ended() {
		return t.ended(&r.Job)
	}
	return nil
}

// ended reports the end of a job to the feed, and informs the jobs that depend on it.
func (t *tx) ended(j *queue.Job, runs ...queue.Run) error {
	t.report(queue.Change{What: queue.Done, Job: life.Header(j), Runs: runs, State: j.State, Reason: j.Cause})
	if _, asked := t.waitsFor[j.ID]; !asked {
		t.askDependents([]int64{j.ID})
		if err := t.trip.do(); err != nil {
			return err
		}
	}
	dependents := t.waitsFor[j.ID]
	if len(dependents) == 0 {
		return nil
	}
	t.waitsFor[j.ID] = nil
	t.jobs.ask(dependents)
	if err := t.trip.do(); err != nil {
		return err
	}
	var done []int64
	for _, id := range dependents {
		if err := t.dependencyEnded(t.jobs.all[id], j); err != nil {
			return err
		}
		// A job that was canceled with this one, or earlier, comes back with it.
		if r := t.jobs.all[id]; r != nil && !r.State.Ended() {
			done = append(done, id)
		}
	}
	if len(done) > 0 {
		t.trip.queue(`DELETE FROM @.depends WHERE on_job = $1 AND job = ANY($2)`, j.ID, done)
	}
	return nil
}

// dependencyEnded unblocks a job whose dependency has ended, or cancels it.
func (t *tx) dependencyEnded(r *row, on *queue.Job) error {
	if r == nil || r.State.Ended() || r.Pending == 0 { // requeued since: no longer blocked
		return nil
	}
	for _, d := range r.After {
		if d.Job != on.ID {
			continue
		}
		if !d.On.Met(on.State) {
			return t.cancel(r, life.Unmet(d, on.State))
		}
		if r.Pending--; r.Pending == 0 {
			r.State = life.State(&r.Job)
			if err := t.waited(r, "dependencies met"); err != nil {
				return err
			}
		}
	}
	t.jobs.save(r)
	return nil
}

// cancel cancels a job. The job ends at once if no task of it runs. Otherwise it ends when its running tasks have been
// stopped or, if only the waiting tasks are canceled, when they have ended.
func (t *tx) cancel(r *row, a queue.Alteration) error {
	t.withdrawn(r, life.Words(a))
	waiting := r.Waiting
	if !life.Cancel(&r.Job, a, t.trip.now) {
		return nil
	}
	t.jobs.save(r)
	t.ledger.count(r.pool, -waiting, 0)
	if r.returned > 0 && r.Tasks > 1 {
		back, err := t.tasks.read(r, `AND t_state = 2`)
		if err != nil {
			return err
		}
		for _, k := range back {
			k.State = queue.Cancelled
			t.tasks.save(r, k)
		}
	} else if r.returned > 0 {
		r.one.State = queue.Cancelled
	}
	r.returned, r.next = 0, r.Tasks
	if !r.Cancel {
		return t.noRetry(r)
	}
	if err := t.stop(r, life.Words(a)); err != nil {
		return err
	}
	if r.State.Ended() {
		return t.ended(&r.Job)
	}
	return nil
}

// noRetry marks the running tasks of a job whose waiting tasks were canceled: none is tried again if it fails.
func (t *tx) noRetry(r *row) error {
	tasks, err := t.running(r)
	for _, k := range tasks {
		k.NoRetry = true
		t.tasks.save(r, k)
	}
	return err
}
