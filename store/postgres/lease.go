package postgres

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// claimText leases all wanted jobs that have one task and may start, with what others are
// claiming at the same moment left to them.
const claimText = `WITH c AS (
		SELECT j.id FROM unnest($1::bigint[]) AS w (id), LATERAL (
			SELECT id FROM @.job WHERE job.id = w.id AND state = 2 AND tasks = 1 AND not_before <= $3 AND t_begin <= $3
			FOR UPDATE SKIP LOCKED) AS j),
	u AS (
		UPDATE @.job AS j SET state = 3, waiting = 0, running = 1, next = 1, returned = 0, attempt = attempt + 1, holder = $4,
			t_state = 3, t_begin = 0, t_started = $3, t_ended = 0, outcome = '', charge = coalesce(($2::jsonb ->> id::text)::float8, 0),
			started = CASE started WHEN 0 THEN $3 ELSE started END
		WHERE id = ANY(ARRAY(SELECT id FROM c))
		RETURNING j.id, j.pool, j.username, j.kind, j.priority, j.spec, j.submitted, j.started, j.attempt),
	l AS (INSERT INTO @.running (job, task, attempt, until, holder) SELECT id, 0, attempt, $5, $4 FROM u)
	SELECT * FROM u`

// Lease implements fairlead.Store.
func (s *Store) Lease(ctx context.Context, holder string, wants []fairlead.Want, ttl time.Duration) ([]fairlead.Grant, error) {
	var out []fairlead.Grant
	err := s.write(ctx, func(t *tx) (err error) {
		out = make([]fairlead.Grant, len(wants))
		won, err := t.claim(holder, wants, ttl)
		if err != nil {
			return err
		}
		var rest []int64
		for i, w := range wants {
			if out[i].Lease = won[w.Job]; out[i].Lease != nil {
				delete(won, w.Job) // it is the answer to one want
			} else {
				rest = append(rest, w.Job)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return t.leaseRest(holder, wants, out, rest, ttl)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// claim leases the jobs that have one task.
func (t *tx) claim(holder string, wants []fairlead.Want, ttl time.Duration) (map[int64]*fairlead.Lease, error) {
	charges := map[int64]float64{}
	for _, w := range wants {
		if _, twice := charges[w.Job]; !twice && len(w.Nodes) == 0 {
			charges[w.Job] = w.Charge
		}
	}
	if len(charges) == 0 {
		return nil, nil
	}
	ids := sorted(charges)
	for id, charge := range charges {
		if charge == 0 {
			delete(charges, id)
		}
	}
	some, err := json.Marshal(charges)
	if err != nil {
		return nil, err
	}
	until := t.now.Add(ttl)
	won := make(map[int64]*fairlead.Lease, len(ids))
	pools := map[int32][]*fairlead.Job{}
	t.ask(claimText, func(r pgx.Rows) error {
		j := &fairlead.Job{Tasks: 1, Running: 1, State: fairlead.Running}
		var pool int32
		var spec []byte
		var submitted, started int64
		l := &fairlead.Lease{Job: j, Holder: holder, Started: t.now, Until: until}
		if err := r.Scan(&j.ID, &pool, &j.User, &j.Kind, &j.Priority, &spec, &submitted, &started, &l.Attempt); err != nil {
			return err
		}
		if err := life.ReadSpec(spec, j); err != nil {
			return err
		}
		j.Submitted, j.Started = life.Instant(submitted), life.Instant(started)
		l.JobID, l.Number = j.ID, j.Numbers().At(0)
		won[j.ID] = l
		pools[pool] = append(pools[pool], j)
		return nil
	}, ids, string(some), life.Nanos(t.now), holder, life.Nanos(until))
	if err := t.do(); err != nil {
		return nil, err
	}
	for pool, jobs := range pools {
		path, err := t.path(pool)
		if err != nil {
			return nil, err
		}
		for _, j := range jobs {
			j.Pool = path
		}
		t.count(pool, -len(jobs), len(jobs))
	}
	return won, nil
}

// leaseRest leases tasks of arrays and gangs, and says of the others what of them waits:
// something does if others are claiming it and may yet fail.
func (t *tx) leaseRest(holder string, wants []fairlead.Want, out []fairlead.Grant, ids []int64, ttl time.Duration) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	t.ask(`SELECT `+columns+` FROM unnest($1::bigint[]) AS w (id),
		LATERAL (SELECT * FROM @.job WHERE job.id = w.id AND tasks > 1 FOR UPDATE) AS j, LATERAL (SELECT path FROM @.pool WHERE pool.id = j.pool OFFSET 0) AS p`, t.keep, ids)
	t.ask(`SELECT `+columns+` FROM @.job AS j, LATERAL (SELECT path FROM @.pool WHERE pool.id = j.pool OFFSET 0) AS p WHERE j.id = ANY($1) AND tasks = 1`, t.keep, ids)
	if err := t.do(); err != nil {
		return err
	}
	var held leases
	for i, w := range wants {
		r := t.rows[w.Job]
		if out[i].Lease != nil || r == nil || !life.Eligible(&r.Job) {
			continue
		}
		var err error
		switch {
		case len(w.Nodes) > 0:
			out[i], err = t.leaseGang(r, w, ttl, &held)
		case r.Tasks == 1:
			out[i].Waiting, err = t.waits(r)
		default:
			out[i], err = t.leaseTask(r, holder, w, ttl, &held)
		}
		if err != nil {
			return err
		}
	}
	t.hold(&held)
	return nil
}

// leaseTask leases a task of an array.
func (t *tx) leaseTask(r *row, holder string, w fairlead.Want, ttl time.Duration, held *leases) (g fairlead.Grant, err error) {
	k, err := t.next(r)
	if err != nil {
		return g, err
	}
	if k == nil {
		g.Waiting, err = t.waits(r)
		return g, err
	}
	life.Lease(k, holder, w.Charge, t.now, t.now.Add(ttl))
	life.Start(&r.Job, t.now)
	t.count(r.pool, -1, +1)
	t.saveTask(r, k)
	t.save(r)
	held.add(k)
	spec := r.Job
	return fairlead.Grant{Lease: life.NewLease(&spec, k)}, nil
}

// next takes the task of the array that starts next, nil if none may.
func (t *tx) next(r *row) (*fairlead.Task, error) {
	if r.Gang > 1 || r.Most > 0 && r.Running >= r.Most {
		return nil, nil
	}
	if r.returned > 0 {
		tasks, err := t.tasksOf(r, `AND t_state = 2 AND t_begin <= $2`, life.Nanos(t.now))
		if err != nil {
			return nil, err
		}
		if len(tasks) > 0 {
			r.returned--
			return tasks[0], nil
		}
	}
	if r.next == r.Tasks || r.Begin.After(t.now) {
		return nil, nil
	}
	k := &fairlead.Task{Job: r.ID, Index: r.next, Number: r.Numbers().At(r.next)}
	r.next++
	return k, nil
}

// waits sums up the tasks of a job that wait by the instant from which they may start.
func (t *tx) waits(r *row) (w []fairlead.Waits, err error) {
	if fresh := r.Tasks - r.next; fresh > 0 && r.Waiting > 0 {
		w = append(w, fairlead.Waits{Tasks: fresh, Begin: r.Begin})
	}
	if r.returned == 0 {
		return w, nil
	}
	if r.Tasks == 1 {
		return life.AddWaits(w, r.one.Begin), nil
	}
	tasks, err := t.tasksOf(r, `AND t_state = 2`)
	for _, k := range tasks {
		w = life.AddWaits(w, k.Begin)
	}
	return w, err
}

// waited tells the feed that the job's tasks wait, if they may be leased.
func (t *tx) waited(r *row, why string) error {
	if !life.Eligible(&r.Job) {
		return nil
	}
	waits, err := t.waits(r)
	t.tell(fairlead.Change{What: fairlead.Waited, Job: life.Header(&r.Job), Waits: waits, State: r.State, Reason: why})
	return err
}

// Renew implements fairlead.Store.
func (s *Store) Renew(ctx context.Context, refs []fairlead.Ref, ttl time.Duration) (out []error, err error) {
	jobs, tasks, attempts := make([]int64, len(refs)), make([]int32, len(refs)), make([]int32, len(refs))
	for i, r := range refs {
		jobs[i], tasks[i], attempts[i] = r.JobID, int32(r.Task), int32(r.Attempt)
	}
	err = s.write(ctx, func(t *tx) error {
		renewed := map[fairlead.Ref]bool{}
		// Leases are locked in the order of their keys, as everybody does.
		t.ask(`WITH l AS (SELECT r.job, r.task FROM @.running AS r, unnest($1::bigint[], $2::int[], $3::int[]) AS v (job, task, attempt)
				WHERE r.job = v.job AND r.task = v.task AND r.attempt = v.attempt AND r.job = ANY($1) ORDER BY r.job, r.task FOR UPDATE OF r)
			UPDATE @.running AS r SET until = $4 FROM l WHERE r.job = l.job AND r.task = l.task AND r.job = ANY($1) RETURNING r.job, r.task, r.attempt`,
			func(r pgx.Rows) error {
				var ref fairlead.Ref
				err := r.Scan(&ref.JobID, &ref.Task, &ref.Attempt)
				renewed[ref] = true
				return err
			}, jobs, tasks, attempts, life.Nanos(t.now.Add(ttl)))
		if err := t.do(); err != nil {
			return err
		}
		out = make([]error, len(refs))
		for i, r := range refs {
			if !renewed[r] {
				out[i] = fairlead.ErrStaleAttempt
			}
		}
		return nil
	})
	return out, err
}
