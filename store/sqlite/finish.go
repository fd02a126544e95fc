package sqlite

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Finish implements fairlead.Store.
func (s *Store) Finish(ctx context.Context, results []fairlead.Result) ([]fairlead.Verdict, error) {
	out := make([]fairlead.Verdict, len(results))
	err := s.write(ctx, false, func(t *tx) (err error) {
		for i, r := range results {
			if out[i], err = t.finish(r); err != nil {
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

func (t *tx) finish(res fairlead.Result) (fairlead.Verdict, error) {
	if bad := life.Check(res.Outcome); bad != nil {
		return fairlead.Verdict{Err: bad}, nil
	}
	if res.Outcome.State == fairlead.Succeeded && res.Task == 0 && life.Plain(res) {
		if done, err := t.succeed(res); done || err != nil {
			return fairlead.Verdict{State: fairlead.Succeeded}, err
		}
	}
	r, k, stale, err := t.holder(res.Ref)
	if err != nil || stale != nil {
		return fairlead.Verdict{Err: stale}, err
	}
	ended := life.Ends(&r.Job, k, res, t.now)
	t.chargeTask(r, k, ended, life.Learns(res.Outcome))
	parting := life.Part(&r.Job, life.HowEnded(res.Outcome))
	again := life.Finish(&r.Job, k, res.Outcome, ended, t.now)
	t.count(r.pool, 0, -1)
	if again {
		if err := t.note(life.AgainEvent(k, res.Outcome, t.now)); err != nil {
			return fairlead.Verdict{}, err
		}
	}
	err = t.back(r, k, again, parting)
	return fairlead.Verdict{State: r.State, Again: again}, err
}

// succeed ends a job that has one task, which succeeded, with one statement. It
// reports false if the job is not of that kind or the attempt is over.
func (t *tx) succeed(res fairlead.Result) (bool, error) {
	l := t.held(res.Ref)
	if l == nil {
		return false, nil
	}
	outcome, err := life.OutcomeText(res.Outcome)
	if err != nil {
		return false, err
	}
	b := binder{stmt: t.conn.Prep(`UPDATE job SET open = NULL, state = 4, running = 0, succeeded = 1, ended = ?1, t_state = 4, t_ended = ?1,
		outcome = ?2 WHERE id = ?3 AND attempt = ?4 AND state = 3 AND requeue = 0 AND cancel = 0`)}
	b.times(t.now).text(outcome).int64(res.JobID).ints(res.Attempt)
	if err := exec(b.stmt); err != nil || t.conn.Changes() == 0 {
		return false, err
	}
	t.charge(l.pool, life.Rate(l.charge, l.job.Request, t.s.options.Unit), l.started, t.now, true)
	t.count(l.pool, 0, -1)
	t.forget(res.Ref)
	return true, t.ended(l.job, fairlead.Succeeded, "")
}

// holder finds the attempt that ref names; stale says that it is not the current one.
func (t *tx) holder(ref fairlead.Ref) (r *row, k *fairlead.Task, stale, err error) {
	r, err = t.load(ref.JobID)
	if err != nil {
		return nil, nil, nil, err
	}
	if r == nil {
		return nil, nil, fairlead.ErrNotFound, nil
	}
	k, err = t.task(r, ref.Task)
	if err == nil && (k == nil || k.State != fairlead.Running || k.Attempt != ref.Attempt) {
		stale = fairlead.ErrStaleAttempt
	}
	return r, k, stale, err
}

// forget drops a lease that is over.
func (t *tx) forget(ref fairlead.Ref) {
	t.then(func(s *Store) {
		key := taskKey{ref.JobID, ref.Task}
		if l := s.runs[key]; l != nil && l.ref == ref {
			delete(s.runs, key)
		}
	})
}

// back writes a task whose attempt ended: it waits again, or is over.
func (t *tx) back(r *row, k *fairlead.Task, again bool, p life.Parting) error {
	t.forget(life.Ref(k))
	if again {
		r.returned++
		t.count(r.pool, +1, 0)
		if life.Eligible(&r.Job) && r.Gang < 2 {
			w := []fairlead.Waits{{Tasks: 1, Begin: k.Begin}}
			t.tell(fairlead.Change{What: fairlead.Waited, Job: life.Header(&r.Job), Waits: w, State: r.State, Reason: "again"})
		}
	}
	if err := errors.Join(t.saveTask(r, k), t.regroup(r, k, p), t.save(r)); err != nil {
		return err
	}
	if r.State.Ended() {
		return t.ended(life.Header(&r.Job), r.State, r.Cause)
	}
	return nil
}

// ended tells the feed, and the jobs that depend on one that ended.
func (t *tx) ended(job fairlead.Header, state fairlead.State, cause string) error {
	t.tell(fairlead.Change{What: fairlead.Done, Job: job, State: state, Reason: cause})
	id := job.ID
	if t.s.awaited[id] == 0 && !t.awaited[id] {
		return nil
	}
	waiting, err := t.dependents(id)
	if err != nil {
		return err
	}
	t.then(func(s *Store) { delete(s.awaited, id) })
	for _, d := range waiting {
		if err := t.dependencyEnded(d, id, state); err != nil {
			return err
		}
	}
	return nil
}

// dependents takes out the jobs that wait for one.
func (t *tx) dependents(id int64) (jobs []int64, err error) {
	stmt := t.conn.Prep(`SELECT job FROM depends WHERE on_job = ? ORDER BY job`)
	stmt.BindInt64(1, id)
	for {
		more, err := stmt.Step()
		if err != nil {
			return nil, errors.Join(err, stmt.Reset())
		}
		if !more {
			break
		}
		jobs = append(jobs, stmt.ColumnInt64(0))
	}
	if err := stmt.Reset(); err != nil {
		return nil, err
	}
	stmt = t.conn.Prep(`DELETE FROM depends WHERE on_job = ?`)
	stmt.BindInt64(1, id)
	return jobs, exec(stmt)
}

func (t *tx) dependencyEnded(id, on int64, state fairlead.State) error {
	r, err := t.load(id)
	if err != nil || r == nil || r.State.Ended() || r.Pending == 0 { // requeued since: it waits for nobody
		return err
	}
	for _, d := range r.After {
		if d.Job != on {
			continue
		}
		if !d.On.Met(state) {
			return t.cancel(r, life.Unmet(d, state))
		}
		if r.Pending--; r.Pending == 0 {
			r.State = life.State(&r.Job)
			if err := t.waited(r, "dependencies met"); err != nil {
				return err
			}
		}
	}
	return t.save(r)
}

// Release implements fairlead.Store.
func (s *Store) Release(ctx context.Context, refs []fairlead.Ref) ([]error, error) {
	out := make([]error, len(refs))
	err := s.write(ctx, false, func(t *tx) error {
		for i, ref := range refs {
			r, k, stale, err := t.holder(ref)
			if out[i] = stale; stale != nil || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			t.count(r.pool, 0, -1)
			parting := life.Part(&r.Job, life.HowGiven)
			if err := t.back(r, k, life.Release(&r.Job, k, t.now), parting); err != nil {
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

func (t *tx) lose(ref fairlead.Ref) (bool, error) {
	r, k, stale, err := t.holder(ref)
	if err != nil || stale != nil {
		return false, err
	}
	t.chargeTask(r, k, t.now, false)
	parting := life.Part(&r.Job, life.HowLost)
	again := life.Lose(&r.Job, k, t.now)
	t.count(r.pool, 0, -1)
	t.tell(life.LostChange(&r.Job, k, ref, t.now))
	if err := t.note(life.LostEvent(k, again, t.now)); err != nil {
		return false, err
	}
	return true, t.back(r, k, again, parting)
}
