package sqlite

import (
	"encoding/json"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// specOf encodes the fields of a job that hardly ever change, without the request, which has its own table.
func specOf(j *queue.Job) ([]byte, error) {
	spec := life.SpecOf(j)
	spec.Request = nil
	return json.Marshal(spec)
}

// row is a job as stored in its row.
type row struct {
	queue.Job
	pool, requestID int64
	next, returned  int
	one             queue.Task // the task of a job that has one
}

// columns are the columns that scan reads, in its order.
const columns = `id, pool, shape, state, user, kind, priority, spec, begin, most, tasks, next, returned, held, pending,
	cancel, waiting, running, queued, succeeded, failed, cancelled, submitted, started, ended, cause,
	attempt, holder, t_state, t_begin, t_started, t_ended, fails, losses, requeue, outcome, charge`

// scan reads a job.
func scan(stmt *sqlite.Stmt, n names) (*row, error) {
	r, s := &row{}, scanner{stmt: stmt}
	j := &r.Job
	j.ID, r.pool, r.requestID = s.int64(), s.int64(), s.int64()
	j.State = life.StateOf(s.int())
	j.User, j.Kind, j.Priority = s.text(), s.text(), s.text()
	if err := life.ReadSpec(s.bytes(), j); err != nil {
		return nil, err
	}
	j.Begin, j.MaxRunning, j.Tasks = s.time(), s.int(), s.int()
	r.next, r.returned = s.int(), s.int()
	j.Held, j.Pending, j.Cancel = s.bool(), s.int(), s.bool()
	j.Waiting, j.Running, j.Queued = s.int(), s.int(), s.int()
	j.Succeeded, j.Failed, j.Cancelled = s.int(), s.int(), s.int()
	j.Submitted, j.Started, j.Ended, j.Cause = s.time(), s.time(), s.time(), s.text()
	j.Pool, j.Request = n.path(r.pool), n.request(r.requestID)
	if j.Tasks == 1 {
		r.one = queue.Task{Job: j.ID, Number: j.Numbers().At(0)}
		return r, s.task(&r.one)
	}
	return r, nil
}

// names looks up the pools and requests that rows refer to by number.
type names interface {
	path(int64) string
	request(int64) queue.Amounts
}

// load reads a job's row; nil if there is none.
func (t *tx) load(id int64) (*row, error) {
	stmt := t.conn.Prep(`SELECT ` + columns + ` FROM job WHERE id = ?`)
	stmt.BindInt64(1, id)
	defer stmt.Reset()
	found, err := stmt.Step()
	if err != nil || !found {
		return nil, err
	}
	return scan(stmt, &t.numbers)
}

// save writes the fields of a job that often change.
func (t *tx) save(r *row) error {
	b := binder{stmt: t.conn.Prep(`UPDATE job SET open = ?, state = ?, priority = ?, begin = ?, next = ?, returned = ?, held = ?,
		pending = ?, cancel = ?, waiting = ?, running = ?, queued = ?, succeeded = ?, failed = ?, cancelled = ?,
		started = ?, ended = ?, cause = ?, attempt = ?, holder = ?, t_state = ?, t_begin = ?, t_started = ?,
		t_ended = ?, fails = ?, losses = ?, requeue = ?, outcome = ?, charge = ? WHERE id = ?`)}
	j := &r.Job
	if j.State.Ended() {
		b.null()
	} else {
		b.ints(1)
	}
	b.int64(stateNumber(j.State)).text(j.Priority).times(j.Begin).ints(r.next, r.returned).bool(j.Held)
	b.ints(j.Pending).bool(j.Cancel).ints(j.Waiting, j.Running, j.Queued, j.Succeeded, j.Failed, j.Cancelled)
	b.times(j.Started, j.Ended).text(j.Cause)
	one := r.one
	if one.State == "" {
		one.State = queue.Waiting
	}
	if _, err := b.task(&one); err != nil {
		return err
	}
	b.int64(j.ID)
	return exec(b.stmt)
}

// saveSpec writes the fields of a job that seldom change.
func (t *tx) saveSpec(r *row) error {
	blob, err := specOf(&r.Job)
	if err != nil {
		return err
	}
	b := binder{stmt: t.conn.Prep(`UPDATE job SET spec = ?2 WHERE id = ?1`)}
	b.int64(r.ID).stmt.BindBytes(2, blob)
	return exec(b.stmt)
}

// task reads a task of a job; nil if it never started.
func (t *tx) task(r *row, idx int) (*queue.Task, error) {
	if r.Tasks == 1 {
		if idx != 0 || r.one.Attempt == 0 {
			return nil, nil
		}
		return &r.one, nil
	}
	tasks, err := tasksOf(t.conn, r, `AND idx = ?`, int64(idx))
	if err != nil || len(tasks) == 0 {
		return nil, err
	}
	return &tasks[0], nil
}

// tasksOf reads tasks of an array.
func tasksOf(conn *sqlite.Conn, r *row, where string, args ...int64) ([]queue.Task, error) {
	stmt := conn.Prep(`SELECT idx, attempt, holder, t_state, t_begin, t_started, t_ended, fails, losses, requeue, outcome, charge
		FROM task WHERE job = ? ` + where + ` ORDER BY idx`)
	b := binder{stmt: stmt}
	b.int64(r.ID)
	for _, a := range args {
		b.int64(a)
	}
	numbers := r.Numbers()
	var out []queue.Task
	err := scanAll(stmt, func(c *scanner) error {
		t := queue.Task{Job: r.ID, Index: c.int()}
		t.Number = numbers.At(t.Index)
		out = append(out, t)
		return c.task(&out[len(out)-1])
	})
	return out, err
}

// saveTask writes a task. The task of a job with one task is written with the job.
func (t *tx) saveTask(r *row, k *queue.Task) error {
	if r.Tasks == 1 {
		r.one = *k
		return nil
	}
	b := binder{stmt: t.conn.Prep(`INSERT OR REPLACE INTO task (job, idx, attempt, holder, t_state, t_begin,
		t_started, t_ended, fails, losses, requeue, outcome, charge) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)}
	b.int64(r.ID).ints(k.Index)
	if _, err := b.task(k); err != nil {
		return err
	}
	return exec(b.stmt)
}

// started returns the tasks of a job that have started at least once, by index.
func (t *tx) started(r *row) ([]queue.Task, error) {
	switch {
	case r.Tasks > 1:
		return tasksOf(t.conn, r, "")
	case r.one.Attempt > 0:
		return []queue.Task{r.one}, nil
	}
	return nil, nil
}

func (t *tx) running(r *row) ([]queue.Task, error) {
	if r.Tasks == 1 {
		return []queue.Task{r.one}, nil
	}
	return tasksOf(t.conn, r, `AND t_state = 3`)
}

func pointers(tasks []queue.Task) []*queue.Task {
	out := make([]*queue.Task, len(tasks))
	for i := range tasks {
		out[i] = &tasks[i]
	}
	return out
}
