package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Changes implements queue.Store.
func (s *Store) Changes(ctx context.Context, cursor int64, most int) (out []queue.Change, next int64, err error) {
	err = s.db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := s.feed.pull(ctx, c)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return s.feed.after(cursor, most)
}

// Snapshot implements queue.Store. Changes that its database snapshot sees come before the cursor, all others after it.
func (s *Store) Snapshot(ctx context.Context, f func(queue.Change) error) (cursor int64, err error) {
	err = s.readConsistent(ctx, f, func(t pgx.Tx, at int64) error { cursor = at; return nil })
	return cursor, err
}

// readConsistent calls f for all jobs, unless f is nil, and then the function "rest", both in one database snapshot. It
// passes the cursor of that snapshot to "rest".
func (s *Store) readConsistent(ctx context.Context, f func(queue.Change) error,
	rest func(t pgx.Tx, cursor int64) error) error {
	return s.db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		began := false
		err := pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
			func(t pgx.Tx) error {
				cursor, err := s.feed.pull(ctx, t)
				if err == nil && f != nil {
					err = s.snapshot(ctx, t, nil, func(c queue.Change) error { began = true; return f(c) })
				}
				if err != nil {
					return err
				}
				return rest(t, cursor)
			})
		if err != nil && began {
			return partial{err}
		}
		return err
	})
}

// snapshot calls f for all jobs, or for some.
func (s *Store) snapshot(ctx context.Context, t pgx.Tx, some []int64, f func(queue.Change) error) error {
	ofTasks, ofJobs, args := "", "", []any{}
	if some != nil {
		ofTasks, ofJobs, args = " AND job = ANY($1)", " WHERE j.id = ANY($1)", []any{some}
	}
	var now int64
	if err := t.QueryRow(ctx, `SELECT `+nowText, s.db.now()).Scan(&now); err != nil {
		return err
	}
	tasks := map[int64][]queue.Task{} // of arrays and gangs: tasks that run or wait again
	err := s.db.rows(ctx, t, `SELECT `+taskNames+` FROM @.task WHERE t_state IN (2, 3) AND job IN (SELECT id FROM @.job WHERE tasks > 1)`+ofTasks+` ORDER BY job, idx`,
		func(rows pgx.Rows) error {
			k, err := scanTask(rows)
			if err == nil {
				tasks[k.Job] = append(tasks[k.Job], *k)
			}
			return err
		}, args...)
	if err != nil {
		return err
	}
	text := `SELECT ` + strings.Replace(columns, "j.payload", "NULL", 1) +
		` FROM @.job AS j JOIN @.pool AS p ON p.id = j.pool` + ofJobs + ` ORDER BY j.id`
	return s.db.rows(ctx, t, text, func(rows pgx.Rows) error {
		r, err := scan(rows)
		if err != nil {
			return err
		}
		return reportRow(r, tasks[r.ID], life.Instant(now), f)
	}, args...)
}

// reportRow describes a job in a snapshot by changes. The argument "again" has the tasks of the job that run or wait
// again.
func reportRow(r *row, again []queue.Task, now time.Time, f func(queue.Change) error) error {
	if r.Tasks == 1 && r.one.Attempt > 0 {
		again = []queue.Task{r.one}
	}
	var runs []queue.Task
	var waits []queue.Waits
	if fresh := r.Tasks - r.next; fresh > 0 && r.Waiting > 0 {
		waits = append(waits, queue.Waits{Tasks: fresh, Begin: r.Begin})
	}
	for _, k := range again {
		switch k.State {
		case queue.Running:
			runs = append(runs, k)
		case queue.Waiting:
			waits = life.AddWaits(waits, k.Begin)
		}
	}
	if len(runs) > 0 {
		for _, c := range life.RunsChanges(&r.Job, runs, now) {
			if err := f(c); err != nil {
				return err
			}
		}
	}
	if !life.Eligible(&r.Job) {
		return nil
	}
	return f(queue.Change{What: queue.Waited, Job: life.Header(&r.Job), Waits: waits, State: r.State, At: now})
}
