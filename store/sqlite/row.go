package sqlite

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
)

// states are the numbers that the column state uses.
var states = []fairlead.State{
	fairlead.Held, fairlead.Blocked, fairlead.Waiting, fairlead.Running,
	fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled,
}

func stateNumber(s fairlead.State) int64 { return int64(slices.Index(states, s)) }

// spec is what of a job hardly ever changes and is not searched for.
type spec struct {
	Name      string                `json:"name,omitempty"`
	Group     string                `json:"group,omitempty"`
	Requestor string                `json:"requestor,omitempty"`
	Argv      []string              `json:"argv,omitempty"`
	Payload   []byte                `json:"payload,omitempty"`
	Script    bool                  `json:"script,omitempty"`
	Env       map[string]string     `json:"env,omitempty"`
	Dir       string                `json:"dir,omitempty"`
	Output    string                `json:"output,omitempty"`
	Error     string                `json:"error,omitempty"`
	Limit     time.Duration         `json:"limit,omitempty"`
	Retries   int                   `json:"retries,omitempty"`
	Backoff   time.Duration         `json:"backoff,omitempty"`
	Array     string                `json:"array,omitempty"`
	After     []fairlead.Dependency `json:"after,omitempty"`
	Key       string                `json:"key,omitempty"`
	Licenses  fairlead.Amounts      `json:"licenses,omitempty"`
	Rates     []string              `json:"rates,omitempty"`
	QOS       string                `json:"qos,omitempty"`
	Nice      int                   `json:"nice,omitempty"`

	Constraint  string `json:"constraint,omitempty"`
	Gang        int    `json:"gang,omitempty"`
	Spread      bool   `json:"spread,omitempty"`
	Reservation string `json:"reservation,omitempty"`
}

func specOf(j *fairlead.Job) ([]byte, error) {
	return json.Marshal(spec{
		j.Name, j.Group, j.Requestor, j.Argv, j.Payload, j.Script, j.Env, j.Dir, j.Output, j.Error,
		j.Limit, j.Retries, j.Backoff, j.Array, j.After, j.Key, j.Licenses, j.Rates, j.QOS, j.Nice,
		j.Constraint, j.Gang, j.Spread, j.Reservation,
	})
}

func (s *spec) into(j *fairlead.Job) {
	j.Name, j.Group, j.Requestor, j.Argv, j.Payload = s.Name, s.Group, s.Requestor, s.Argv, s.Payload
	j.Script = s.Script
	j.Env, j.Dir, j.Output, j.Error, j.Limit = s.Env, s.Dir, s.Output, s.Error, s.Limit
	j.QOS, j.Nice, j.Constraint = s.QOS, s.Nice, s.Constraint
	j.Gang, j.Spread, j.Reservation = s.Gang, s.Spread, s.Reservation
	j.Retries, j.Backoff, j.Array, j.After, j.Key = s.Retries, s.Backoff, s.Array, s.After, s.Key
	j.Licenses, j.Rates = s.Licenses, s.Rates
}

// spec reads the column of that name.
func (s *scanner) spec(j *fairlead.Job) error {
	var sp spec
	if err := json.Unmarshal(s.bytes(), &sp); err != nil {
		return fmt.Errorf("job %d: %w", j.ID, err)
	}
	sp.into(j)
	return nil
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
	cancel, waiting, running, succeeded, failed, cancelled, submitted, started, ended, cause,
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
func (s *scanner) time() time.Time { return instant(s.int64()) }
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
	j.State = states[s.int()]
	j.User, j.Kind, j.Priority = s.text(), s.text(), s.text()
	if err := s.spec(j); err != nil {
		return nil, err
	}
	j.Begin, j.Most, j.Tasks = s.time(), s.int(), s.int()
	r.next, r.returned = s.int(), s.int()
	j.Held, j.Pending, j.Cancel = s.bool(), s.int(), s.bool()
	j.Waiting, j.Running, j.Succeeded, j.Failed, j.Cancelled = s.int(), s.int(), s.int(), s.int(), s.int()
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
	t.Attempt, t.Holder, t.State = s.int(), s.text(), states[s.int()]
	t.Begin, t.Started, t.Ended = s.time(), s.time(), s.time()
	t.Fails, t.Losses = s.int(), s.int()
	again := s.int()
	t.Requeue, t.Stopped = again&onRequeue != 0, again&onStop != 0
	text := s.text()
	t.Charge = s.float()
	switch text {
	case "":
	case plainOutcome:
		t.Outcome.State = fairlead.Succeeded
	default:
		if err := json.Unmarshal([]byte(text), &t.Outcome); err != nil {
			return fmt.Errorf("job %d, task %d: %w", t.Job, t.Index, err)
		}
	}
	return nil
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
		b.int64(nanos(t))
	}
	return b
}

// task binds the columns of a task, from attempt on.
func (b *binder) task(t *fairlead.Task) (*binder, error) {
	b.ints(t.Attempt).text(t.Holder).int64(stateNumber(t.State)).times(t.Begin, t.Started, t.Ended)
	again := 0
	if t.Requeue {
		again |= onRequeue
	}
	if t.Stopped {
		again |= onStop
	}
	b.ints(t.Fails, t.Losses, again)
	text, err := outcomeText(t.Outcome)
	return b.text(text).float(t.Charge), err
}

// The bits of the column requeue: why a task waits again when its attempt ends.
const (
	onRequeue = 1 << iota
	onStop
)

// plainOutcome stands for a success of which nothing else is known.
const plainOutcome = "ok"

// outcomeText is an outcome as its column has it.
func outcomeText(o fairlead.Outcome) (string, error) {
	switch o {
	case fairlead.Outcome{}:
		return "", nil
	case fairlead.Outcome{State: fairlead.Succeeded}:
		return plainOutcome, nil
	}
	text, err := json.Marshal(o)
	return string(text), err
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
		pending = ?, cancel = ?, waiting = ?, running = ?, succeeded = ?, failed = ?, cancelled = ?,
		started = ?, ended = ?, cause = ?, attempt = ?, holder = ?, t_state = ?, t_begin = ?, t_started = ?,
		t_ended = ?, fails = ?, losses = ?, requeue = ?, outcome = ?, charge = ? WHERE id = ?`)}
	j := &r.Job
	if j.State.Ended() {
		b.null()
	} else {
		b.ints(1)
	}
	b.int64(stateNumber(j.State)).text(j.Priority).times(j.Begin).ints(r.next, r.returned).bool(j.Held)
	b.ints(j.Pending).bool(j.Cancel).ints(j.Waiting, j.Running, j.Succeeded, j.Failed, j.Cancelled)
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
