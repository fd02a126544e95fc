package sqlite

import (
	"errors"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// cancel cancels a job. The job ends at once if no task of it runs. Otherwise it ends when its running tasks have been
// stopped or, if only the waiting tasks are canceled, when they have ended.
func (t *tx) cancel(r *row, a queue.Alteration) error {
	t.withdrawn(r, life.Words(a))
	waiting := r.Waiting
	if !life.Cancel(&r.Job, a, t.now) {
		return nil
	}
	t.ledger.count(r.pool, -waiting, 0)
	if r.returned > 0 && r.Tasks > 1 {
		stmt := t.conn.Prep(`UPDATE task SET t_state = 6 WHERE job = ? AND t_state = 2`)
		stmt.BindInt64(1, r.ID)
		if err := exec(stmt); err != nil {
			return err
		}
	} else if r.returned > 0 {
		r.one.State = queue.Cancelled
	}
	r.returned, r.next = 0, r.Tasks
	if !r.Cancel {
		return errors.Join(t.noRetry(r), t.save(r))
	}
	if err := errors.Join(t.stop(r, life.Words(a)), t.save(r)); err != nil {
		return err
	}
	if r.State.Ended() {
		return t.ended(life.Header(&r.Job), r.State, r.Cause)
	}
	return nil
}

// noRetry marks the running tasks of a job whose waiting tasks were canceled: none is tried again if it fails.
func (t *tx) noRetry(r *row) error {
	tasks, err := t.running(r)
	for i := range tasks {
		tasks[i].NoRetry = true
		err = errors.Join(err, t.saveTask(r, &tasks[i]))
	}
	return err
}

// stop reports to the feed which tasks of the job must be stopped.
func (t *tx) stop(r *row, why string) error {
	if r.Running == 0 {
		return nil
	}
	c := queue.Change{What: queue.Stop, Job: life.Header(&r.Job), State: r.State, Reason: why}
	tasks, err := t.running(r)
	for i := range tasks {
		c.Runs = append(c.Runs, life.Run(&tasks[i]))
	}
	t.report(c)
	return err
}

// ended reports the end of a job to the feed, and informs the jobs that depend on it.
func (t *tx) ended(job queue.Header, state queue.State, cause string) error {
	t.report(queue.Change{What: queue.Done, Job: job, State: state, Reason: cause})
	id := job.ID
	if t.mem.awaited[id] == 0 && !t.awaited[id] {
		return nil
	}
	waiting, err := dependents(t.conn, id)
	if err != nil {
		return err
	}
	t.then(func(m *memory) { delete(m.awaited, id) })
	for _, d := range waiting {
		over, err := t.dependencyEnded(d, id, state)
		if err != nil {
			return err
		}
		if over {
			continue // if it was canceled with this job, it comes back with it
		}
		b := binder{stmt: t.conn.Prep(`DELETE FROM depends WHERE on_job = ? AND job = ?`)}
		if err := exec(b.int64(id).int64(d).stmt); err != nil {
			return err
		}
	}
	return nil
}

// dependencyEnded informs a job that one of its dependencies has ended. It reports whether the job itself has ended.
func (t *tx) dependencyEnded(id, on int64, state queue.State) (over bool, err error) {
	r, err := t.load(id)
	if err != nil || r == nil {
		return false, err
	}
	if r.State.Ended() || r.Pending == 0 { // requeued since: no longer blocked
		return r.State.Ended(), nil
	}
	for _, d := range r.After {
		if d.Job != on {
			continue
		}
		if !d.On.Met(state) {
			return true, t.cancel(r, life.Unmet(d, state))
		}
		if r.Pending--; r.Pending == 0 {
			r.State = life.State(&r.Job)
			if err := t.waited(r, "dependencies met"); err != nil {
				return false, err
			}
		}
	}
	return false, t.save(r)
}

// dependents returns the jobs that wait for a job, and the ended jobs that waited for it.
func dependents(conn *sqlite.Conn, id int64) (jobs []int64, err error) {
	stmt := conn.Prep(`SELECT job FROM depends WHERE on_job = ? ORDER BY job`)
	stmt.BindInt64(1, id)
	err = scanAll(stmt, func(c *scanner) error { jobs = append(jobs, c.int64()); return nil })
	return jobs, err
}
