package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Jobs implements queue.Store.
func (s *Store) Jobs(ctx context.Context, q queue.Query) (out []*queue.Job, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		if len(q.DependsOn) > 0 {
			if q.IDs, err = dependentsOfAny(conn, q); err != nil || len(q.IDs) == 0 {
				return err
			}
		}
		where, args := conditions(q)
		if len(q.IDs) > 0 {
			where, args = selected(q)
		}
		return rows(conn, s.mem, where+order(q), args, func(r *row) error {
			out = append(out, &r.Job)
			return nil
		})
	})
	return out, err
}

// selected restricts a query to its ids, which one statement finds by their keys, however many there are. NOT INDEXED
// keeps the planner from reading all unfinished jobs instead.
func selected(q queue.Query) (where string, args []any) {
	where, args = conditions(q)
	ids, _ := json.Marshal(q.IDs) // numbers can always be written
	return "NOT INDEXED " + where + " AND id IN (SELECT value FROM json_each(?))", append(args, string(ids))
}

// dependentsOfAny returns the dependents that a query may select, some of them perhaps twice.
func dependentsOfAny(conn *sqlite.Conn, q queue.Query) (ids []int64, err error) {
	for _, id := range q.DependsOn {
		more, err := dependents(conn, id)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	return slices.DeleteFunc(ids, func(id int64) bool { return len(q.IDs) > 0 && !slices.Contains(q.IDs, id) }), nil
}

// conditions translates a query to SQL, without its ids and its order. Jobs that have not ended are found through their
// index.
func conditions(q queue.Query) (where string, args []any) {
	where = "WHERE id > ?"
	args = append(args, q.After)
	add := func(condition string, values ...any) {
		where += " AND " + condition
		args = append(args, values...)
	}
	if q.Before > 0 {
		add("id < ?", q.Before)
	}
	if q.User != "" {
		add("user = ?", q.User)
	}
	if q.Kind != "" {
		add("kind = ?", q.Kind)
	}
	if q.Pool != "" {
		add("pool IN (SELECT id FROM pool WHERE path = ? OR substr(path, 1, ?) = ?)", q.Pool, int64(len([]rune(q.Pool))+1), q.Pool+"/")
	}
	if len(q.States) > 0 {
		open := true
		marks := make([]string, len(q.States))
		for i, st := range q.States {
			open = open && !st.Ended()
			marks[i] = fmt.Sprint(stateNumber(st))
		}
		in := "state IN (" + strings.Join(marks, ", ") + ")"
		if q.Failing {
			in = "(" + in + " OR open = 1 AND failed > 0)"
		}
		if add(in); open {
			add("open = 1")
		}
	}
	if q.Waits {
		add("waiting > 0")
	}
	if !q.Since.IsZero() {
		add("(ended = 0 OR ended >= ?)", life.Nanos(q.Since))
	}
	return where, args
}

func order(q queue.Query) string {
	o := " ORDER BY id"
	if q.Newest {
		o += " DESC"
	}
	if q.Limit > 0 {
		o += fmt.Sprint(" LIMIT ", q.Limit)
	}
	return o
}

// rows reads jobs and calls f for each.
func rows(conn *sqlite.Conn, n names, where string, args []any, f func(*row) error) error {
	b := binder{stmt: conn.Prep(`SELECT ` + columns + ` FROM job ` + where)}
	for _, a := range args {
		switch v := a.(type) {
		case int64:
			b.int64(v)
		case string:
			b.text(v)
		}
	}
	return scanAll(b.stmt, func(*scanner) error {
		r, err := scan(b.stmt, n)
		if err != nil {
			return err
		}
		return f(r)
	})
}

// Tasks implements queue.Store.
func (s *Store) Tasks(ctx context.Context, id int64) (out []queue.Task, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		found := false
		return orMissing(id, &found, rows(conn, s.mem, "WHERE id = ?", []any{id}, func(r *row) (err error) {
			found = true
			if r.Tasks > 1 {
				out, err = tasksOf(conn, r, "")
			} else if r.one.Attempt > 0 {
				out = []queue.Task{r.one}
			}
			return err
		}))
	})
	s.mem.mu.Lock()
	defer s.mem.mu.Unlock()
	for i := range out {
		if l := s.mem.runs[taskKey{id, out[i].Index}]; l != nil && l.ref.Attempt == out[i].Attempt {
			out[i].Until = l.until
		}
	}
	return out, err
}

// Ends implements queue.EndReader.
func (s *Store) Ends(ctx context.Context, jobs []int64) (out []queue.Task, err error) {
	ids := slices.Clone(jobs)
	slices.Sort(ids)
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		out = nil
		for _, id := range slices.Compact(ids) {
			err := rows(conn, s.mem, "WHERE id = ? AND tasks <= ?", []any{id, int64(queue.MaxEnds)}, func(r *row) (err error) {
				tasks := []queue.Task{r.one}
				if r.Tasks > 1 {
					tasks, err = tasksOf(conn, r, "AND t_ended > 0")
				}
				if last, ended := queue.LastEnd(tasks); ended {
					out = append(out, last)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func orMissing(id int64, found *bool, err error) error {
	if err == nil && !*found {
		return queue.NoJob(id)
	}
	return err
}

// Snapshot implements queue.Store. It runs between two transactions of the writer, so that no change is lost between it
// and the following changes.
func (s *Store) Snapshot(ctx context.Context, f func(queue.Change) error) (int64, error) {
	var cursor int64
	var failed error
	err := s.writer.do(ctx, op{solo: true, run: func(t *tx) error {
		failed = s.snapshot(t, f)
		t.then(func(m *memory) { cursor = m.feed.Cursor() })
		return nil
	}})
	if err != nil { // the function f may still be running
		return 0, err
	}
	return cursor, failed
}

func (s *Store) snapshot(t *tx, f func(queue.Change) error) error {
	return rows(t.conn, &t.numbers, "WHERE open = 1 ORDER BY id", nil, func(r *row) error {
		if r.Running > 0 {
			tasks, err := t.running(r)
			if err != nil {
				return err
			}
			for _, c := range life.RunsChanges(&r.Job, tasks, t.now) {
				if err := f(c); err != nil {
					return err
				}
			}
		}
		if !life.Eligible(&r.Job) {
			return nil
		}
		waits, err := t.waits(r)
		if err != nil {
			return err
		}
		return f(queue.Change{What: queue.Waited, Job: life.Header(&r.Job), Waits: waits, State: r.State, At: t.now})
	})
}
