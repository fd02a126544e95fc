package sqlite

import (
	"encoding/json"
	"errors"
	"maps"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// tx is one transaction of the writer. What follows from it in memory is applied
// when it is on disk.
type tx struct {
	s    *Store
	conn *sqlite.Conn
	now  time.Time

	clock    usage.Clock
	rebased  bool // clock and accounts are as of now
	pools    map[string]int64
	shapes   map[string]int64
	accounts map[int64]account
	counters map[int64]fairlead.Counters // changes
	days     map[dayKey]float64          // changes
	changes  []fairlead.Change
	awaited  map[int64]bool // jobs on which others came to depend
	steps    []func(*Store)
}

// then leaves something to be done in memory after the commit.
func (t *tx) then(f func(*Store)) { t.steps = append(t.steps, f) }

// apply runs in the writer's goroutine after a commit.
func (t *tx) apply() {
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, id := range t.pools {
		s.pools[path], s.paths[id], s.since[id] = id, path, t.now
	}
	for text, id := range t.shapes {
		s.shapes[text], s.requests[id] = id, parseRequest(text)
	}
	s.clock = t.clock
	maps.Copy(s.accounts, t.accounts)
	for id, d := range t.counters {
		c := s.counters[id]
		if c == nil {
			c = &fairlead.Counters{}
			s.counters[id] = c
		}
		c.Waiting += d.Waiting
		c.Running += d.Running
	}
	for _, f := range t.steps {
		f(s)
	}
	for _, c := range t.changes {
		s.feed.Add(c)
	}
}

// flush writes what was summed up over the transaction.
func (t *tx) flush() error {
	if t.rebased {
		if err := t.saveClock(); err != nil {
			return err
		}
	}
	for id, a := range t.accounts {
		stmt := t.conn.Prep(`UPDATE pool SET used = ?, mean = ?, seen = ?, total = ?, ended = ? WHERE id = ?`)
		stmt.BindFloat(1, a.used)
		stmt.BindFloat(2, a.mean)
		stmt.BindFloat(3, a.seen)
		stmt.BindFloat(4, a.total)
		stmt.BindInt64(5, a.ended)
		stmt.BindInt64(6, id)
		if err := exec(stmt); err != nil {
			return err
		}
	}
	return t.flushDays()
}

// held returns what is known in memory of an attempt, if its job has one task and
// was leased by this process.
func (t *tx) held(ref fairlead.Ref) *lease {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	l := t.s.runs[taskKey{ref.JobID, ref.Task}]
	if l == nil || l.ref != ref || l.job.Tasks != 1 {
		return nil
	}
	return l
}

// tell adds a change to the feed.
func (t *tx) tell(c fairlead.Change) {
	c.At = t.now
	t.changes = append(t.changes, c)
}

// count adds to the counters of a pool.
func (t *tx) count(pool int64, waiting, running int) {
	if t.counters == nil {
		t.counters = map[int64]fairlead.Counters{}
	}
	c := t.counters[pool]
	c.Waiting += int64(waiting)
	c.Running += int64(running)
	t.counters[pool] = c
}

// chargeTask books the service of an attempt that ended at an instant.
func (t *tx) chargeTask(r *row, k *fairlead.Task, ended time.Time, learn bool) {
	from, to, learn := life.Served(k, ended, learn)
	t.charge(r.pool, life.Rate(k.Charge, r.Request, t.s.options.Unit), from, to, learn)
}

// charge books the service of an attempt that ends.
func (t *tx) charge(pool int64, rate float64, started, ended time.Time, learn bool) {
	if life.Outgrown(t.clock, t.now) {
		t.rebase(t.clock.HalfLife())
	}
	a := t.account(pool)
	if n := t.s.days; n > 0 {
		life.ByDay(rate, started, ended, life.Day(t.now)-int64(n)+1, func(day int64, amount float64) { t.day(pool, day, amount) })
	}
	sum := fairlead.Account{Used: a.used, Mean: a.mean, Seen: a.seen, Total: a.total, Ended: a.ended}
	life.Charge(&sum, t.clock, rate, started, ended, learn)
	t.accounts[pool] = account{sum.Used, sum.Mean, sum.Seen, sum.Total, sum.Ended}
}

// pool returns the number of a pool.
func (t *tx) pool(path string) (int64, error) {
	return t.intern(path, t.s.pools, &t.pools, `INSERT INTO pool (path, since) VALUES (?, ?)`, life.Nanos(t.now))
}

// shape returns the number of a request.
func (t *tx) shape(request fairlead.Amounts) (int64, error) {
	text, err := json.Marshal(request) // names come out sorted
	if err != nil {
		return 0, err
	}
	return t.intern(string(text), t.s.shapes, &t.shapes, `INSERT INTO shape (request) VALUES (?)`)
}

func (t *tx) intern(text string, known map[string]int64, added *map[string]int64, insert string, more ...int64) (int64, error) {
	if id, ok := known[text]; ok {
		return id, nil
	}
	if id, ok := (*added)[text]; ok {
		return id, nil
	}
	b := binder{stmt: t.conn.Prep(insert)}
	b.text(text)
	for _, v := range more {
		b.int64(v)
	}
	if err := exec(b.stmt); err != nil {
		return 0, err
	}
	if *added == nil {
		*added = map[string]int64{}
	}
	id := t.conn.LastInsertRowID()
	(*added)[text] = id
	return id, nil
}

// request is the request behind a number that may be from this transaction.
func (t *tx) request(id int64) fairlead.Amounts {
	if r, ok := t.s.requests[id]; ok {
		return r
	}
	for text, n := range t.shapes {
		if n == id {
			return parseRequest(text)
		}
	}
	return nil
}

func (t *tx) path(id int64) string {
	if p, ok := t.s.paths[id]; ok {
		return p
	}
	for path, n := range t.pools {
		if n == id {
			return path
		}
	}
	return ""
}

func parseRequest(text string) fairlead.Amounts {
	var a fairlead.Amounts
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		panic("sqlite store: request " + text + ": " + err.Error())
	}
	return a
}

// load reads into memory what a process needs to go on, and gives the leases that it
// finds a grace period.
func (s *Store) load(conn *sqlite.Conn) error {
	s.clock = usage.NewClock(time.Now(), 0)
	return errors.Join(
		s.loadClock(conn),
		each(conn, `SELECT id, path, used, mean, seen, total, ended, since FROM pool`, func(r *sqlite.Stmt) {
			id, path := r.ColumnInt64(0), r.ColumnText(1)
			s.pools[path], s.paths[id] = id, path
			s.accounts[id] = account{r.ColumnFloat(2), r.ColumnFloat(3), r.ColumnFloat(4), r.ColumnFloat(5), r.ColumnInt64(6)}
			s.since[id] = life.Instant(r.ColumnInt64(7))
		}),
		each(conn, `SELECT id, request FROM shape`, func(r *sqlite.Stmt) {
			s.shapes[r.ColumnText(1)], s.requests[r.ColumnInt64(0)] = r.ColumnInt64(0), parseRequest(r.ColumnText(1))
		}),
		each(conn, `SELECT pool, sum(waiting), sum(running) FROM job WHERE open = 1 GROUP BY pool`, func(r *sqlite.Stmt) {
			s.counters[r.ColumnInt64(0)] = &fairlead.Counters{Waiting: r.ColumnInt64(1), Running: r.ColumnInt64(2)}
		}),
		each(conn, `SELECT on_job, count(*) FROM depends GROUP BY on_job`, func(r *sqlite.Stmt) {
			s.awaited[r.ColumnInt64(0)] = r.ColumnInt(1)
		}),
		s.loadRuns(conn),
	)
}

func (s *Store) loadRuns(conn *sqlite.Conn) error {
	until := time.Now().Add(s.options.Grace)
	add := func(r *sqlite.Stmt) {
		ref := fairlead.Ref{JobID: r.ColumnInt64(0), Task: r.ColumnInt(1), Attempt: r.ColumnInt(2)}
		s.runs[taskKey{ref.JobID, ref.Task}] = &lease{ref: ref, holder: r.ColumnText(3), until: until}
	}
	return errors.Join(
		each(conn, `SELECT id, 0, attempt, holder FROM job WHERE open = 1 AND running = 1 AND tasks = 1`, add),
		each(conn, `SELECT task.job, idx, task.attempt, task.holder FROM job JOIN task ON task.job = job.id
			WHERE job.open = 1 AND job.running > 0 AND job.tasks > 1 AND task.t_state = 3`, add),
	)
}

// each runs a query that is used once and calls f for each row.
func each(conn *sqlite.Conn, query string, f func(*sqlite.Stmt)) error {
	stmt, _, err := conn.PrepareTransient(query)
	if err != nil {
		return err
	}
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return errors.Join(err, stmt.Finalize())
		}
		f(stmt)
	}
}
