package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// Finish implements queue.Store.
func (s *Store) Finish(ctx context.Context, results []queue.Result) ([]queue.Verdict, error) {
	return writeEach(ctx, s, results, (*tx).finish)
}

func (t *tx) finish(res queue.Result) (queue.Verdict, error) {
	if bad := life.Check(res.Outcome); bad != nil {
		return queue.Verdict{Err: bad}, nil
	}
	late := usage.Late(res.Began, res.Ended, t.now)
	if res.Outcome.State == queue.Succeeded && res.Task == 0 && life.Plain(res, late) {
		if done, err := t.succeed(res); done || err != nil {
			return queue.Verdict{State: queue.Succeeded}, err
		}
	}
	r, k, stale, err := t.holder(res.Ref)
	if err != nil || stale != nil {
		return queue.Verdict{Err: stale}, err
	}
	if res.Outcome.Refused != "" {
		return t.refuse(r, k, res.Outcome)
	}
	ended := life.Ends(&r.Job, k, res, late, t.now)
	t.chargeTask(r, k, ended, life.Learns(res.Outcome))
	parting := life.Part(&r.Job, k, life.HowEnded(res.Outcome))
	again := life.Finish(&r.Job, k, res.Outcome, ended)
	t.ledger.count(r.pool, 0, -1)
	if again {
		if err := t.noteAll(parting.AgainEvents(k, res.Outcome, t.now)); err != nil {
			return queue.Verdict{}, err
		}
	}
	err = t.back(r, k, again, parting)
	return queue.Verdict{State: r.State, Again: again}, err
}

// refuse ends an attempt that its machine could not begin. If the waiting tasks must now avoid that node, it reports
// them to the feed again.
func (t *tx) refuse(r *row, k *queue.Task, o queue.Outcome) (v queue.Verdict, err error) {
	t.ledger.count(r.pool, 0, -1)
	parting, before := life.Part(&r.Job, k, life.HowRefused), r.Avoid
	again := life.Refuse(&r.Job, k, o, t.now)
	if err := t.note(life.RefusedEvent(k, o, again, t.now)); err != nil {
		return v, err
	}
	if err := t.back(r, k, again, parting); err != nil {
		return v, err
	}
	v = queue.Verdict{State: r.State, Again: again}
	if !life.Kept(before, r.Avoid) {
		return v, nil
	}
	if err := t.saveSpec(r); err != nil || r.Gang > 1 {
		return v, err
	}
	why := "kept from " + k.Holder
	t.withdrawn(r, why)
	return v, t.waited(r, why)
}

// succeed ends, with one statement, a job with one task that succeeded. It returns false if the job is not of that
// kind, or if the attempt is over.
func (t *tx) succeed(res queue.Result) (bool, error) {
	l := t.mem.held(res.Ref)
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
	t.ledger.charge(l.pool, life.Rate(l.charge, l.job.Request, t.mem.unit), l.started, t.now, true)
	t.ledger.count(l.pool, 0, -1)
	t.forget(res.Ref)
	return true, t.ended(l.job, queue.Succeeded, "")
}

// holder finds the attempt that ref names; the result "stale" is the error if that attempt is not the current one.
func (t *tx) holder(ref queue.Ref) (r *row, k *queue.Task, stale, err error) {
	r, err = t.load(ref.JobID)
	if err != nil {
		return nil, nil, nil, err
	}
	if r == nil {
		return nil, nil, queue.ErrNotFound, nil
	}
	k, err = t.task(r, ref.Task)
	if err == nil && (k == nil || k.State != queue.Running || k.Attempt != ref.Attempt) {
		stale = queue.ErrStaleAttempt
	}
	return r, k, stale, err
}

// forget drops a lease that is over.
func (t *tx) forget(ref queue.Ref) {
	t.then(func(m *memory) {
		key := taskKey{ref.JobID, ref.Task}
		if l := m.runs[key]; l != nil && l.ref == ref {
			delete(m.runs, key)
		}
	})
}

// back writes a task whose attempt ended: it waits again, or is over.
func (t *tx) back(r *row, k *queue.Task, again bool, p life.Parting) error {
	t.forget(life.Ref(k))
	if again {
		r.returned++
		t.ledger.count(r.pool, +1, 0)
		if life.Eligible(&r.Job) && r.Gang < 2 {
			w := []queue.Waits{{Tasks: 1, Begin: k.Begin}}
			t.report(queue.Change{What: queue.Waited, Job: life.Header(&r.Job), Waits: w, State: r.State, Reason: "again"})
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

// Release implements queue.Store.
func (s *Store) Release(ctx context.Context, refs []queue.Ref) ([]error, error) {
	return writeEach(ctx, s, refs, func(t *tx, ref queue.Ref) (stale, err error) {
		r, k, stale, err := t.holder(ref)
		if stale != nil || err != nil {
			return stale, err
		}
		t.ledger.count(r.pool, 0, -1)
		parting := life.Part(&r.Job, k, life.HowGiven)
		return nil, t.back(r, k, life.Release(&r.Job, k, t.now), parting)
	})
}

func (t *tx) lose(ref queue.Ref) (bool, error) {
	r, k, stale, err := t.holder(ref)
	if err != nil || stale != nil {
		return false, err
	}
	t.chargeTask(r, k, t.now, false)
	parting := life.Part(&r.Job, k, life.HowLost)
	again := life.Lose(&r.Job, k, t.now)
	t.ledger.count(r.pool, 0, -1)
	t.report(life.LostChange(&r.Job, k, ref, t.now))
	if err := t.noteAll(parting.LostEvents(k, again, t.now)); err != nil {
		return false, err
	}
	return true, t.back(r, k, again, parting)
}

// chargeTask records the service of an attempt that ended at an instant.
func (t *tx) chargeTask(r *row, k *queue.Task, ended time.Time, learn bool) {
	from, to, learn := life.Served(k, ended, learn)
	t.ledger.charge(r.pool, life.Rate(k.Charge, r.Request, t.mem.unit), from, to, learn)
}
