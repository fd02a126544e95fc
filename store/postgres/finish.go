package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// succeedText ends jobs with one task that succeeded, if nothing else is to be done for them. It finds rows by their
// index, and so locks them in the order of their ids.
const succeedText = `WITH n AS MATERIALIZED (SELECT ` + nowText + ` AS at),
	d AS (
		DELETE FROM @.job AS j USING unnest($2::bigint[], $3::int[], $4::text[]) AS w (id, try, result)
		WHERE j.id = w.id AND j.id = ANY($2) AND attempt = w.try AND state = 3 AND tasks = 1 AND coalesce(again, 0) = 0 AND cancel IS NOT TRUE
		RETURNING j.id, j.pool, username, kind, priority, spec, payload, not_before, most, submitted, started, cause, attempt, holder, t_started,
			fails, losses, charge, held, coalesce(w.result, 'ok') AS result),
	l AS (DELETE FROM @.holding WHERE task = 0 AND job = ANY(ARRAY(SELECT id FROM d))),
	e AS (INSERT INTO @.ended (id, pool, state, username, kind, priority, spec, payload, not_before, most, tasks, waiting, succeeded,
			submitted, started, ended, cause, attempt, holder, t_state, t_started, t_ended, fails, losses, outcome, charge, held)
		SELECT id, pool, 4, username, kind, priority, spec, payload, not_before, most, 1, 0, 1,
			submitted, started, (SELECT at FROM n), cause, attempt, holder, 4, t_started, (SELECT at FROM n), fails, losses, result, charge, held FROM d),
	o AS (INSERT INTO @.ending (at, jobs) SELECT (SELECT at FROM n), array_agg(id) FROM d HAVING count(*) > 0)
	SELECT id, pool, username, kind, priority, spec, coalesce(most, 0), submitted, attempt, t_started, coalesce(charge, 0) FROM d`

// over is a job that succeedText has ended.
type over struct {
	job     queue.Job
	pool    int32
	attempt int
	started int64
	charge  float64
}

// Finish implements queue.Store. If ctx ends first, the attempts may still be ended.
func (s *Store) Finish(ctx context.Context, results []queue.Result) ([]queue.Verdict, error) {
	return s.finishes.join(ctx, results)
}

// finish ends attempts in one transaction.
func (s *Store) finish(ctx context.Context, results []queue.Result, _ bool) ([]queue.Verdict, error) {
	var out []queue.Verdict
	err := s.writer.early(ctx, func(t *tx) error {
		out = make([]queue.Verdict, len(results))
		done, err := t.succeed(results)
		if err != nil {
			return err
		}
		var gone []queue.Ref
		t.changes = slices.Grow(t.changes, len(results))
		for i, r := range results {
			if o := done[r.JobID]; o != nil && o.job.ID == r.JobID && r.Outcome.State == queue.Succeeded {
				delete(done, r.JobID) // a second result for it is too late
				out[i].State = queue.Succeeded
				err = t.succeeded(o)
			} else {
				out[i], err = t.finish(r, &gone)
			}
			if err != nil {
				return err
			}
		}
		t.forget(gone)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// succeed ends jobs with succeedText where possible, and reads the rows of the other jobs, and of jobs that depend on
// any of them.
func (t *tx) succeed(results []queue.Result) (map[int64]*over, error) {
	first := map[int64]queue.Result{}
	var ids []int64
	for _, r := range results {
		if _, twice := first[r.JobID]; !twice {
			first[r.JobID] = r
			ids = append(ids, r.JobID)
		}
	}
	var jobs []int64
	var attempts []int32
	var outcomes []*string // nil: a plain success
	for _, id := range sorted(first) {
		r := first[id]
		if r.Outcome.State != queue.Succeeded || life.Check(r.Outcome) != nil || r.Task != 0 || !life.Plain(r, t.db.late(r)) {
			continue
		}
		text, err := life.OutcomeText(r.Outcome)
		if err != nil {
			return nil, err
		}
		jobs, attempts, outcomes = append(jobs, id), append(attempts, int32(r.Attempt)), append(outcomes, nil)
		if (r.Outcome != queue.Outcome{State: queue.Succeeded}) {
			outcomes[len(outcomes)-1] = &text
		}
	}
	done, all := make(map[int64]*over, len(jobs)), make([]over, 0, len(jobs))
	if len(jobs) > 0 {
		t.trip.ask(succeedText, func(r pgx.Rows) error {
			all = append(all, over{}) // within its capacity: append does not reallocate
			o := &all[len(all)-1]
			j := &o.job
			var spec []byte
			var submitted int64
			if err := r.Scan(&j.ID, &o.pool, &j.User, &j.Kind, &j.Priority, &spec, &j.MaxRunning, &submitted,
				&o.attempt, &o.started, &o.charge); err != nil {
				return err
			}
			j.Tasks, j.State, j.Submitted = 1, queue.Succeeded, life.Instant(submitted)
			done[j.ID] = o
			return life.ReadSpec(spec, j)
		}, t.at(), jobs, attempts, outcomes)
	}
	t.askDependents(ids)
	if len(jobs) > 0 {
		if err := t.trip.do(); err != nil {
			return nil, err
		}
	}
	var rest []queue.Ref
	for _, r := range results {
		if done[r.JobID] == nil {
			rest = append(rest, r.Ref)
		}
	}
	if len(rest) > 0 {
		t.askHolders(rest)
		return done, t.trip.do()
	}
	return done, nil
}

// succeeded completes the end of a job that succeedText has ended.
func (t *tx) succeeded(o *over) (err error) {
	if o.job.Pool, err = t.pools.path(o.pool); err != nil {
		return err
	}
	rate := life.Rate(o.charge, o.job.Request, t.db.options.Unit)
	if err := t.ledger.charge(o.pool, rate, life.Instant(o.started), t.trip.now, true); err != nil {
		return err
	}
	return t.ended(&o.job, queue.Run{
		Ref: queue.Ref{JobID: o.job.ID, Attempt: o.attempt}, Started: life.Instant(o.started), Charge: o.charge, Ended: t.trip.now, Learns: true,
	})
}

func (t *tx) finish(res queue.Result, gone *[]queue.Ref) (v queue.Verdict, err error) {
	if v.Err = life.Check(res.Outcome); v.Err != nil {
		return v, nil
	}
	r, k, stale := t.holder(res.Ref)
	if stale != nil {
		return queue.Verdict{Err: stale}, nil
	}
	if res.Outcome.Refused != "" {
		*gone = append(*gone, res.Ref)
		return t.refuse(r, k, res.Outcome)
	}
	ended := life.Ends(&r.Job, k, res, t.db.late(res), t.trip.now)
	if err := t.chargeTask(r, k, ended, life.Learns(res.Outcome)); err != nil {
		return v, err
	}
	t.reportEnded(r, k, ended, life.Learns(res.Outcome))
	parting := life.Part(&r.Job, k, life.HowEnded(res.Outcome))
	again := life.Finish(&r.Job, k, res.Outcome, ended)
	if again {
		t.noteAll(parting.AgainEvents(k, res.Outcome, t.trip.now))
	}
	*gone = append(*gone, res.Ref)
	err = t.returnTask(r, k, again, parting)
	return queue.Verdict{State: r.State, Again: again}, err
}

// Release implements queue.Store.
func (s *Store) Release(ctx context.Context, refs []queue.Ref) (out []error, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		out = make([]error, len(refs))
		t.askHolders(refs)
		if err := t.trip.do(); err != nil {
			return err
		}
		var gone []queue.Ref
		for i, ref := range refs {
			r, k, stale := t.holder(ref)
			if out[i] = stale; stale != nil {
				continue
			}
			t.ledger.count(r.pool, 0, -1)
			t.reportEnded(r, k, time.Time{}, false)
			parting := life.Part(&r.Job, k, life.HowGiven)
			gone = append(gone, ref)
			if err := t.returnTask(r, k, life.Release(&r.Job, k, t.trip.now), parting); err != nil {
				return err
			}
		}
		t.forget(gone)
		return nil
	})
	return out, err
}
