package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// succeedText ends the jobs that have one task, which succeeded, and of which nothing else
// has to be done. Rows are found by their index, and so locked in the order of their ids.
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
	job     fairlead.Job
	pool    int32
	attempt int
	started int64
	charge  float64
}

// finish ends attempts in one transaction.
func (s *Store) finish(ctx context.Context, results []fairlead.Result, _ bool) ([]fairlead.Verdict, error) {
	var out []fairlead.Verdict
	err := s.writeEarly(ctx, func(t *tx) error {
		out = make([]fairlead.Verdict, len(results))
		done, err := t.succeed(results)
		if err != nil {
			return err
		}
		var gone []fairlead.Ref
		t.changes = slices.Grow(t.changes, len(results))
		for i, r := range results {
			if o := done[r.JobID]; o != nil && o.job.ID == r.JobID && r.Outcome.State == fairlead.Succeeded {
				delete(done, r.JobID) // a second result for it comes too late
				out[i].State = fairlead.Succeeded
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

// succeed ends what it may, reads what is needed for the rest, and who depends on any.
func (t *tx) succeed(results []fairlead.Result) (map[int64]*over, error) {
	first := map[int64]fairlead.Result{}
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
		if r.Outcome.State != fairlead.Succeeded || r.Task != 0 || !life.Plain(r) {
			continue
		}
		text, err := life.OutcomeText(r.Outcome)
		if err != nil {
			return nil, err
		}
		jobs, attempts, outcomes = append(jobs, id), append(attempts, int32(r.Attempt)), append(outcomes, nil)
		if (r.Outcome != fairlead.Outcome{State: fairlead.Succeeded}) {
			outcomes[len(outcomes)-1] = &text
		}
	}
	done, all := make(map[int64]*over, len(jobs)), make([]over, 0, len(jobs))
	if len(jobs) > 0 {
		t.ask(succeedText, func(r pgx.Rows) error {
			all = append(all, over{}) // there is room: no other place is taken
			o := &all[len(all)-1]
			j := &o.job
			var spec []byte
			var submitted int64
			if err := r.Scan(&j.ID, &o.pool, &j.User, &j.Kind, &j.Priority, &spec, &j.Most, &submitted, &o.attempt, &o.started, &o.charge); err != nil {
				return err
			}
			j.Tasks, j.State, j.Submitted = 1, fairlead.Succeeded, life.Instant(submitted)
			done[j.ID] = o
			return life.ReadSpec(spec, j)
		}, t.at(), jobs, attempts, outcomes)
	}
	t.askDependents(ids)
	if len(jobs) > 0 {
		if err := t.do(); err != nil {
			return nil, err
		}
	}
	var rest []fairlead.Ref
	for _, r := range results {
		if done[r.JobID] == nil {
			rest = append(rest, r.Ref)
		}
	}
	if len(rest) > 0 {
		t.askHolders(rest)
		return done, t.do()
	}
	return done, nil
}

// succeeded follows up on a job that succeedText has ended.
func (t *tx) succeeded(o *over) (err error) {
	if o.job.Pool, err = t.path(o.pool); err != nil {
		return err
	}
	rate := life.Rate(o.charge, o.job.Request, t.s.options.Unit)
	if err := t.charge(o.pool, rate, life.Instant(o.started), t.now, true); err != nil {
		return err
	}
	return t.ended(&o.job, fairlead.Run{
		Ref: fairlead.Ref{JobID: o.job.ID, Attempt: o.attempt}, Started: life.Instant(o.started), Charge: o.charge, Ended: t.now, Learns: true,
	})
}

func (t *tx) finish(res fairlead.Result, gone *[]fairlead.Ref) (v fairlead.Verdict, err error) {
	if v.Err = life.Check(res.Outcome); v.Err != nil {
		return v, nil
	}
	r, k, stale := t.holder(res.Ref)
	if stale != nil {
		return fairlead.Verdict{Err: stale}, nil
	}
	ended := life.Ends(&r.Job, k, res, t.now)
	if err := t.chargeTask(r, k, ended, life.Learns(res.Outcome)); err != nil {
		return v, err
	}
	t.tellEnded(r, k, ended, life.Learns(res.Outcome))
	parting := life.Part(&r.Job, life.HowEnded(res.Outcome))
	again := life.Finish(&r.Job, k, res.Outcome, ended, t.now)
	if again {
		t.note(life.AgainEvent(k, res.Outcome, t.now))
	}
	*gone = append(*gone, res.Ref)
	err = t.back(r, k, again, parting)
	return fairlead.Verdict{State: r.State, Again: again}, err
}

// back writes a task whose attempt ended: it waits again, or is over.
func (t *tx) back(r *row, k *fairlead.Task, again bool, p life.Parting) error {
	if again {
		r.returned++
		t.count(r.pool, +1, 0)
		if life.Eligible(&r.Job) && r.Gang < 2 {
			w := []fairlead.Waits{{Tasks: 1, Begin: k.Begin}}
			t.tell(fairlead.Change{What: fairlead.Waited, Job: life.Header(&r.Job), Waits: w, State: r.State, Reason: "again"})
		}
	}
	t.saveTask(r, k)
	t.save(r)
	if err := t.regroup(r, k, p); err != nil {
		return err
	}
	if r.State.Ended() {
		return t.ended(&r.Job)
	}
	return nil
}

// ended tells the feed, and the jobs that depend on one that ended.
func (t *tx) ended(j *fairlead.Job, runs ...fairlead.Run) error {
	t.tell(fairlead.Change{What: fairlead.Done, Job: life.Header(j), Runs: runs, State: j.State, Reason: j.Cause})
	if _, asked := t.waitsFor[j.ID]; !asked {
		t.askDependents([]int64{j.ID})
		if err := t.do(); err != nil {
			return err
		}
	}
	dependents := t.waitsFor[j.ID]
	if len(dependents) == 0 {
		return nil
	}
	t.waitsFor[j.ID] = nil
	t.queue(`DELETE FROM @.depends WHERE on_job = $1`, j.ID)
	t.askRows(dependents)
	if err := t.do(); err != nil {
		return err
	}
	for _, id := range dependents {
		if err := t.dependencyEnded(t.rows[id], j); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) dependencyEnded(r *row, on *fairlead.Job) error {
	if r == nil || r.State.Ended() || r.Pending == 0 { // requeued since: it waits for nobody
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
	t.save(r)
	return nil
}

// Release implements fairlead.Store.
func (s *Store) Release(ctx context.Context, refs []fairlead.Ref) (out []error, err error) {
	err = s.write(ctx, func(t *tx) error {
		out = make([]error, len(refs))
		t.askHolders(refs)
		if err := t.do(); err != nil {
			return err
		}
		var gone []fairlead.Ref
		for i, ref := range refs {
			r, k, stale := t.holder(ref)
			if out[i] = stale; stale != nil {
				continue
			}
			t.count(r.pool, 0, -1)
			t.tellEnded(r, k, time.Time{}, false)
			parting := life.Part(&r.Job, life.HowGiven)
			gone = append(gone, ref)
			if err := t.back(r, k, life.Release(&r.Job, k, t.now), parting); err != nil {
				return err
			}
		}
		t.forget(gone)
		return nil
	})
	return out, err
}
