package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Lease implements fairlead.Store.
func (s *Store) Lease(ctx context.Context, holder string, wants []fairlead.Want, ttl time.Duration) ([]fairlead.Grant, error) {
	if err := s.makeTolls(ctx, tollKeys(life.NewTolls(wants))); err != nil {
		return nil, err
	}
	var out []fairlead.Grant
	err := s.writeEarly(ctx, func(t *tx) error {
		out = make([]fairlead.Grant, len(wants))
		err := t.toll(wants, out, func(wants []fairlead.Want, out []fairlead.Grant) error { return t.lease(holder, wants, out, ttl) })
		t.tellLeased(wants, out)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *tx) lease(holder string, wants []fairlead.Want, out []fairlead.Grant, ttl time.Duration) error {
	if err := t.claim(holder, wants, out, ttl); err != nil {
		return err
	}
	var rest []int64
	for i, w := range wants {
		if out[i].Lease == nil {
			rest = append(rest, w.Job)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return t.leaseRest(holder, wants, out, rest, ttl)
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
	held := leases{}
	for i, w := range wants {
		r := t.rows[w.Job]
		if out[i].Lease != nil || r == nil || !life.Eligible(&r.Job) {
			continue
		}
		var err error
		switch {
		case len(w.Nodes) > 0:
			out[i], err = t.leaseGang(r, w, ttl, held)
		case r.Tasks == 1:
			out[i].Waiting, err = t.waits(r)
		default:
			out[i], err = t.leaseTask(r, holder, w, ttl, held)
		}
		if err != nil {
			return err
		}
	}
	t.hold(held)
	return nil
}

// leaseTask leases a task of an array.
func (t *tx) leaseTask(r *row, holder string, w fairlead.Want, ttl time.Duration, held leases) (g fairlead.Grant, err error) {
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

// renewJobs and renewTasks renew the leases of jobs that have one task, and of tasks of arrays and
// gangs; what has ended since, or was leased again, they leave out. Everybody locks jobs before
// tasks, and both in the order of their keys.
const (
	renewJobs = `WITH l AS (SELECT j.id FROM unnest($1::bigint[], $2::int[], $3::int[]) AS v (job, task, attempt), LATERAL (
			SELECT id FROM @.job WHERE job.id = v.job AND v.task = 0 AND job.attempt = v.attempt AND state IN (3, 7) AND tasks = 1 FOR UPDATE) AS j),
		u AS (UPDATE @.job SET until = $4 WHERE id = ANY(ARRAY(SELECT id FROM l)) RETURNING id, 0 AS task, attempt, holder),` + renewed
	renewTasks = `WITH l AS (SELECT k.job, k.idx FROM unnest($1::bigint[], $2::int[], $3::int[]) AS v (job, task, attempt), LATERAL (
			SELECT job, idx FROM @.task WHERE task.job = v.job AND idx = v.task AND task.attempt = v.attempt AND t_state = 3 FOR UPDATE) AS k),
		u AS (UPDATE @.task AS t SET until = $4 FROM l WHERE t.job = l.job AND t.idx = l.idx AND t.job = ANY($1)
			RETURNING t.job AS id, t.idx AS task, attempt, holder),` + renewed
	renewed = ` n AS (INSERT INTO @.lease (until, holder, jobs) SELECT $4, holder, array_agg(DISTINCT id) FROM u GROUP BY holder)
		SELECT id, task, attempt FROM u`
)

// Renew implements fairlead.Store.
func (s *Store) Renew(ctx context.Context, refs []fairlead.Ref, ttl time.Duration) (out []error, err error) {
	jobs, tasks, attempts := make([]int64, len(refs)), make([]int32, len(refs)), make([]int32, len(refs))
	for i, r := range slices.SortedFunc(slices.Values(refs), byTask) {
		jobs[i], tasks[i], attempts[i] = r.JobID, int32(r.Task), int32(r.Attempt)
	}
	err = s.repeat(ctx, func(t *tx) error {
		renewed := map[fairlead.Ref]bool{}
		until := life.Nanos(t.now.Add(ttl))
		for _, text := range []string{renewJobs, renewTasks} {
			t.ask(text, func(r pgx.Rows) error {
				var ref fairlead.Ref
				err := r.Scan(&ref.JobID, &ref.Task, &ref.Attempt)
				renewed[ref] = true
				return err
			}, jobs, tasks, attempts, until)
		}
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

// byTask is the order in which tasks are locked.
func byTask(a, b fairlead.Ref) int {
	return cmp.Or(cmp.Compare(a.JobID, b.JobID), cmp.Compare(a.Task, b.Task))
}
