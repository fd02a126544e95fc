package sqlite

import (
	"encoding/json"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

func stateNumber(s fairlead.State) int64 { return int64(life.StateNumber(s)) }

// specOf is what of a job hardly ever changes; the request has a table of its own.
func specOf(j *fairlead.Job) ([]byte, error) {
	spec := life.SpecOf(j)
	spec.Request = nil
	return json.Marshal(spec)
}

// row is a job as its row has it.
type row struct {
	fairlead.Job
	pool, shape    int64
	next, returned int
	one            fairlead.Task // the task of a job that has one
}

// columns are those that scan reads, in its order.
const columns = `id, pool, shape, state, user, kind, priority, spec, begin, most, tasks, next, returned, held, pending,
	cancel, waiting, running, queued, succeeded, failed, cancelled, submitted, started, ended, cause,
	attempt, holder, t_state, t_begin, t_started, t_ended, fails, losses, requeue, outcome, charge`

// scanner reads columns one after the other.
type scanner struct {
	stmt *sqlite.Stmt
	col  int
}

func (s *scanner) int() int        { s.col++; return s.stmt.ColumnInt(s.col - 1) }
func (s *scanner) int64() int64    { s.col++; return s.stmt.ColumnInt64(s.col - 1) }
func (s *scanner) float() float64  { s.col++; return s.stmt.ColumnFloat(s.col - 1) }
func (s *scanner) bool() bool      { return s.int64() != 0 }
func (s *scanner) text() string    { s.col++; return s.stmt.ColumnText(s.col - 1) }
func (s *scanner) time() time.Time { return life.Instant(s.int64()) }
func (s *scanner) bytes() []byte {
	b := make([]byte, s.stmt.ColumnLen(s.col))
	s.col++
	return b[:s.stmt.ColumnBytes(s.col-1, b)]
}

// scan reads a job.
func scan(stmt *sqlite.Stmt, n names) (*row, error) {
	r, s := &row{}, scanner{stmt: stmt}
	j := &r.Job
	j.ID, r.pool, r.shape = s.int64(), s.int64(), s.int64()
	j.State = life.StateOf(s.int())
	j.User, j.Kind, j.Priority = s.text(), s.text(), s.text()
	if err := life.ReadSpec(s.bytes(), j); err != nil {
		return nil, err
	}
	j.Begin, j.Most, j.Tasks = s.time(), s.int(), s.int()
	r.next, r.returned = s.int(), s.int()
	j.Held, j.Pending, j.Cancel = s.bool(), s.int(), s.bool()
	j.Waiting, j.Running, j.Queued = s.int(), s.int(), s.int()
	j.Succeeded, j.Failed, j.Cancelled = s.int(), s.int(), s.int()
	j.Submitted, j.Started, j.Ended, j.Cause = s.time(), s.time(), s.time(), s.text()
	j.Pool, j.Request = n.path(r.pool), n.request(r.shape)
	if j.Tasks == 1 {
		r.one = fairlead.Task{Job: j.ID, Number: j.Numbers().At(0)}
		return r, s.task(&r.one)
	}
	return r, nil
}

// task reads the columns of a task.
func (s *scanner) task(t *fairlead.Task) error {
	t.Attempt, t.Holder, t.State = s.int(), s.text(), life.StateOf(s.int())
	t.Begin, t.Started, t.Ended = s.time(), s.time(), s.time()
	t.Fails, t.Losses = s.int(), s.int()
	life.SetAgain(t, s.int())
	text := s.text()
	t.Charge = s.float()
	return life.ReadOutcome(text, t)
}

// binder binds parameters one after the other.
type binder struct {
	stmt *sqlite.Stmt
	n    int
}

func (b *binder) ints(vs ...int) *binder {
	for _, v := range vs {
		b.int64(int64(v))
	}
	return b
}
func (b *binder) int64(v int64) *binder   { b.n++; b.stmt.BindInt64(b.n, v); return b }
func (b *binder) null() *binder           { b.n++; b.stmt.BindNull(b.n); return b }
func (b *binder) bool(v bool) *binder     { b.n++; b.stmt.BindBool(b.n, v); return b }
func (b *binder) float(v float64) *binder { b.n++; b.stmt.BindFloat(b.n, v); return b }
func (b *binder) text(v string) *binder   { b.n++; b.stmt.BindText(b.n, v); return b }
func (b *binder) times(ts ...time.Time) *binder {
	for _, t := range ts {
		b.int64(life.Nanos(t))
	}
	return b
}

// task binds the columns of a task, from attempt on.
func (b *binder) task(t *fairlead.Task) (*binder, error) {
	b.ints(t.Attempt).text(t.Holder).int64(stateNumber(t.State)).times(t.Begin, t.Started, t.Ended)
	b.ints(t.Fails, t.Losses, life.AgainBits(t))
	text, err := life.OutcomeText(t.Outcome)
	return b.text(text).float(t.Charge), err
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
	return scan(stmt, t)
}

// save writes what changes of a job.
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
		one.State = fairlead.Waiting
	}
	if _, err := b.task(&one); err != nil {
		return err
	}
	b.int64(j.ID)
	return exec(b.stmt)
}

// task reads a task of a job; nil if it never started.
func (t *tx) task(r *row, idx int) (*fairlead.Task, error) {
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
func tasksOf(conn *sqlite.Conn, r *row, where string, args ...int64) ([]fairlead.Task, error) {
	stmt := conn.Prep(`SELECT idx, attempt, holder, t_state, t_begin, t_started, t_ended, fails, losses, requeue, outcome, charge
		FROM task WHERE job = ? ` + where + ` ORDER BY idx`)
	defer stmt.Reset()
	b := binder{stmt: stmt}
	b.int64(r.ID)
	for _, a := range args {
		b.int64(a)
	}
	numbers := r.Numbers()
	var out []fairlead.Task
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return out, err
		}
		s := scanner{stmt: stmt}
		t := fairlead.Task{Job: r.ID, Index: s.int()}
		t.Number = numbers.At(t.Index)
		if err := s.task(&t); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
}

// saveTask writes a task. That of a job with one task is written with the job.
func (t *tx) saveTask(r *row, k *fairlead.Task) error {
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
