package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Jobs implements fairlead.Store.
func (s *Store) Jobs(ctx context.Context, q fairlead.Query) (out []*fairlead.Job, err error) {
	where, args := conditions(q)
	open, over := true, true
	if len(q.States) > 0 {
		open, over = false, false
		for _, st := range q.States {
			open, over = open || !st.Ended(), over || st.Ended()
		}
	}
	tail := " ORDER BY 1"
	if q.Newest {
		tail += " DESC"
	}
	if q.Limit > 0 {
		tail += fmt.Sprint(" LIMIT ", q.Limit)
	}
	part := func(table string) string {
		return `(SELECT ` + columns + ` FROM @.` + table + ` AS j JOIN @.pool AS p ON p.id = j.pool ` + where + tail + `)`
	}
	text := part("job") + " UNION ALL " + part("ended") + tail
	switch {
	case !over:
		text = part("job")
	case !open:
		text = part("ended")
	}
	err = s.query(ctx, text, func(rows pgx.Rows) error {
		r, err := scan(rows)
		if err == nil {
			out = append(out, &r.Job)
		}
		return err
	}, args...)
	return out, err
}

// conditions translates a query.
func conditions(q fairlead.Query) (where string, args []any) {
	add := func(condition string, value any) {
		args = append(args, value)
		word := " AND "
		if where == "" {
			word = "WHERE "
		}
		where += word + fmt.Sprintf(condition, len(args))
	}
	add("j.id > $%d", q.After)
	if q.Before > 0 {
		add("j.id < $%d", q.Before)
	}
	if len(q.IDs) > 0 {
		add("j.id = ANY($%d)", q.IDs)
	}
	if q.User != "" {
		add("j.username = $%d", q.User)
	}
	if q.Kind != "" {
		add("j.kind = $%d", q.Kind)
	}
	if q.Pool != "" {
		add("(p.path = $%[1]d OR starts_with(p.path, $%[1]d || '/'))", q.Pool)
	}
	if len(q.States) > 0 {
		var numbers []int16
		for _, st := range q.States {
			numbers = append(numbers, int16(life.StateNumber(st)))
		}
		add("j.state = ANY($%d)", numbers)
	}
	if q.Waits {
		add("j.waiting > $%d", 0)
	}
	if !q.Since.IsZero() {
		add("(coalesce(j.ended, 0) = 0 OR j.ended >= $%d)", life.Nanos(q.Since))
	}
	return where, args
}

// Tasks implements fairlead.Store.
func (s *Store) Tasks(ctx context.Context, id int64) (out []fairlead.Task, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		out = nil
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(t pgx.Tx) (err error) {
			out, err = s.tasks(ctx, t, id)
			return err
		})
	})
	return out, err
}

func (s *Store) tasks(ctx context.Context, t pgx.Tx, id int64) (out []fairlead.Task, err error) {
	var r *row
	err = s.rows(ctx, t, `SELECT `+columns+` FROM (SELECT * FROM @.job WHERE id = $1 UNION ALL SELECT * FROM @.ended WHERE id = $1) AS j
		JOIN @.pool AS p ON p.id = j.pool`, func(rows pgx.Rows) (err error) {
		r, err = scan(rows)
		return err
	}, id)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, fairlead.ErrNotFound
	case r.Tasks == 1 && r.one.Attempt == 0:
		return nil, nil
	case r.Tasks == 1:
		out = append(out, r.one)
	default:
		numbers := r.Numbers()
		err = s.rows(ctx, t, `SELECT `+taskNames+` FROM @.task WHERE job = $1 ORDER BY idx`, func(rows pgx.Rows) error {
			k, err := scanTask(rows)
			if err == nil {
				k.Number = numbers.At(k.Index)
				out = append(out, *k)
			}
			return err
		}, id)
	}
	return out, err
}

// rows calls scan for each row of a query in a transaction.
func (s *Store) rows(ctx context.Context, t pgx.Tx, sql string, scan func(pgx.Rows) error, args ...any) error {
	rows, err := t.Query(ctx, s.sql(sql), args...)
	if err != nil {
		return err
	}
	return each(rows, scan)
}

// Snapshot implements fairlead.Store. The changes that its snapshot of the database sees
// come before the cursor, all others after.
func (s *Store) Snapshot(ctx context.Context, f func(fairlead.Change) error) (cursor int64, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		told := false
		err := pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(t pgx.Tx) (err error) {
			if cursor, err = s.feed.pull(ctx, s, t); err != nil {
				return err
			}
			return s.snapshot(ctx, t, nil, func(c fairlead.Change) error { told = true; return f(c) })
		})
		if err != nil && told {
			return partial{err}
		}
		return err
	})
	return cursor, err
}

// snapshot tells of all jobs, or of some.
func (s *Store) snapshot(ctx context.Context, t pgx.Tx, some []int64, f func(fairlead.Change) error) error {
	ofTasks, ofJobs, args := "", "", []any{}
	if some != nil {
		ofTasks, ofJobs, args = " AND job = ANY($1)", " WHERE j.id = ANY($1)", []any{some}
	}
	var now int64
	if err := t.QueryRow(ctx, `SELECT `+nowText, s.now()).Scan(&now); err != nil {
		return err
	}
	tasks := map[int64][]fairlead.Task{} // of arrays and gangs, those that run or wait again
	err := s.rows(ctx, t, `SELECT `+taskNames+` FROM @.task WHERE t_state IN (2, 3) AND job IN (SELECT id FROM @.job WHERE tasks > 1)`+ofTasks+` ORDER BY job, idx`,
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
	return s.rows(ctx, t, `SELECT `+strings.Replace(columns, "j.payload", "NULL", 1)+` FROM @.job AS j JOIN @.pool AS p ON p.id = j.pool`+ofJobs+` ORDER BY j.id`, func(rows pgx.Rows) error {
		r, err := scan(rows)
		if err != nil {
			return err
		}
		return tellRow(r, tasks[r.ID], life.Instant(now), f)
	}, args...)
}

// tellRow tells of a job in a snapshot; again are those of its tasks that run or wait again.
func tellRow(r *row, again []fairlead.Task, now time.Time, f func(fairlead.Change) error) error {
	if r.Tasks == 1 && r.one.Attempt > 0 {
		again = []fairlead.Task{r.one}
	}
	var runs []fairlead.Task
	var waits []fairlead.Waits
	if fresh := r.Tasks - r.next; fresh > 0 && r.Waiting > 0 {
		waits = append(waits, fairlead.Waits{Tasks: fresh, Begin: r.Begin})
	}
	for _, k := range again {
		switch k.State {
		case fairlead.Running:
			runs = append(runs, k)
		case fairlead.Waiting:
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
	return f(fairlead.Change{What: fairlead.Waited, Job: life.Header(&r.Job), Waits: waits, State: r.State, At: now})
}
