package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// renewJobs and renewTasks renew the leases of jobs with one task, and of tasks of arrays and gangs. They leave out
// attempts that have ended, or whose tasks were leased again. All code locks jobs before tasks, and both in the order
// of their keys.
const (
	renewJobs = `WITH l AS (SELECT j.id FROM unnest($1::bigint[], $2::int[], $3::int[]) AS v (job, task, attempt), LATERAL (
			SELECT id FROM @.job WHERE job.id = v.job AND v.task = 0 AND job.attempt = v.attempt AND state IN (3, 7) AND tasks = 1 FOR UPDATE) AS j),
		u AS (UPDATE @.job SET until = greatest(until, $4) WHERE id = ANY(ARRAY(SELECT id FROM l)) RETURNING id, 0 AS task, attempt, holder),` + renewed
	renewTasks = `WITH l AS (SELECT k.job, k.idx FROM unnest($1::bigint[], $2::int[], $3::int[]) AS v (job, task, attempt), LATERAL (
			SELECT job, idx FROM @.task WHERE task.job = v.job AND idx = v.task AND task.attempt = v.attempt AND t_state = 3 FOR UPDATE) AS k),
		u AS (UPDATE @.task AS t SET until = greatest(t.until, $4) FROM l WHERE t.job = l.job AND t.idx = l.idx AND t.job = ANY($1)
			RETURNING t.job AS id, t.idx AS task, attempt, holder),` + renewed
	renewed = ` n AS (INSERT INTO @.lease (until, holder, jobs) SELECT $4, holder, array_agg(DISTINCT id) FROM u GROUP BY holder)
		SELECT id, task, attempt FROM u`
)

// Renew implements queue.Store. It repeats a call whose effect is unknown. The repeat does not report that an attempt
// is over, because the first try may have renewed the attempt before its end, and others may have seen that. A late
// effect of the first try does not shorten any lease.
func (s *Store) Renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) (out []error, err error) {
	jobs, tasks, attempts := make([]int64, len(refs)), make([]int32, len(refs)), make([]int32, len(refs))
	for i, r := range slices.SortedFunc(slices.Values(refs), byTask) {
		jobs[i], tasks[i], attempts[i] = r.JobID, int32(r.Task), int32(r.Attempt)
	}
	lost, err := s.writer.repeat(ctx, func(t *tx) error {
		renewed := map[queue.Ref]bool{}
		until := life.Nanos(t.trip.now.Add(ttl))
		for _, text := range []string{renewJobs, renewTasks} {
			t.trip.ask(text, func(r pgx.Rows) error {
				var ref queue.Ref
				err := r.Scan(&ref.JobID, &ref.Task, &ref.Attempt)
				renewed[ref] = true
				return err
			}, jobs, tasks, attempts, until)
		}
		if err := t.trip.do(); err != nil {
			return err
		}
		out = make([]error, len(refs))
		for i, r := range refs {
			if !renewed[r] {
				out[i] = queue.ErrStaleAttempt
			}
		}
		return nil
	})
	if stale := slices.ContainsFunc(out, func(e error) bool { return e != nil }); err == nil && lost != nil && stale {
		err = lost
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
