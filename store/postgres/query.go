package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Jobs implements queue.Store.
func (s *Store) Jobs(ctx context.Context, q queue.Query) (out []*queue.Job, err error) {
	where, args := conditions(q)
	open, over := true, true
	if len(q.States) > 0 {
		open, over = q.Failing, false
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
	err = s.db.query(ctx, text, func(rows pgx.Rows) error {
		r, err := scan(rows)
		if err == nil {
			out = append(out, &r.Job)
		}
		return err
	}, args...)
	return out, err
}

// conditions translates a query to SQL.
func conditions(q queue.Query) (where string, args []any) {
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
	if len(q.DependsOn) > 0 {
		add("j.id IN (SELECT job FROM @.depends WHERE on_job = ANY($%d))", q.DependsOn)
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
		if q.Failing {
			add("(j.state = ANY($%d) OR coalesce(j.ended, 0) = 0 AND coalesce(j.failed, 0) > 0)", numbers)
		} else {
			add("j.state = ANY($%d)", numbers)
		}
	}
	if q.Waits {
		add("j.waiting > $%d", 0)
	}
	if !q.Since.IsZero() {
		add("(coalesce(j.ended, 0) = 0 OR j.ended >= $%d)", life.Nanos(q.Since))
	}
	return where, args
}

// Tasks implements queue.Store.
func (s *Store) Tasks(ctx context.Context, id int64) (out []queue.Task, err error) {
	err = s.db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		out = nil
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
			func(t pgx.Tx) (err error) {
				out, err = s.tasks(ctx, t, id)
				return err
			})
	})
	return out, err
}

func (s *Store) tasks(ctx context.Context, t pgx.Tx, id int64) (out []queue.Task, err error) {
	var r *row
	err = s.db.rows(ctx, t, `SELECT `+columns+` FROM (SELECT * FROM @.job WHERE id = $1 UNION ALL SELECT * FROM @.ended WHERE id = $1) AS j
		JOIN @.pool AS p ON p.id = j.pool`, func(rows pgx.Rows) (err error) {
		r, err = scan(rows)
		return err
	}, id)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, queue.NoJob(id)
	case r.Tasks == 1 && r.one.Attempt == 0:
		return nil, nil
	case r.Tasks == 1:
		out = append(out, r.one)
	default:
		numbers := r.Numbers()
		err = s.db.rows(ctx, t, `SELECT `+taskNames+` FROM @.task WHERE job = $1 ORDER BY idx`, func(rows pgx.Rows) error {
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

// Ends implements queue.EndReader.
func (s *Store) Ends(ctx context.Context, jobs []int64) ([]queue.Task, error) {
	tasks, numbers := map[int64][]queue.Task{}, map[int64]queue.Numbers{}
	part := func(table string) string {
		return `(SELECT ` + columns + ` FROM @.` + table + ` AS j JOIN @.pool AS p ON p.id = j.pool
			WHERE j.id = ANY($1) AND j.tasks <= $2)`
	}
	err := s.db.query(ctx, part("job")+" UNION ALL "+part("ended"), func(rows pgx.Rows) error {
		r, err := scan(rows)
		switch {
		case err != nil:
			return err
		case r.Tasks == 1:
			tasks[r.ID] = []queue.Task{r.one}
		default:
			numbers[r.ID] = r.Numbers()
		}
		return nil
	}, jobs, queue.MaxEnds)
	if err != nil {
		return nil, err
	}
	if len(numbers) > 0 {
		text := `SELECT ` + taskNames + ` FROM @.task WHERE job = ANY($1) AND t_ended > 0`
		err = s.db.query(ctx, text, func(rows pgx.Rows) error {
			k, err := scanTask(rows)
			if err != nil {
				return err
			}
			k.Number = numbers[k.Job].At(k.Index)
			tasks[k.Job] = append(tasks[k.Job], *k)
			return nil
		}, slices.Collect(maps.Keys(numbers)))
	}
	var out []queue.Task
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		if last, ended := queue.LastEnd(tasks[id]); ended {
			out = append(out, last)
		}
	}
	return out, err
}
