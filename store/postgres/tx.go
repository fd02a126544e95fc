package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// tx is one transaction. Statements are gathered and sent together when something has to
// be read, or at the end: a call on many jobs takes two trips to the database.
type tx struct {
	s       *Store
	ctx     context.Context
	line    line
	batch   *pgx.Batch
	results []func(pgx.BatchResults) error
	now     time.Time

	clock   usage.Clock
	clockID int32
	days    int // how many are kept

	rows     map[int64]*row
	tasks    map[taskKey]*fairlead.Task
	dirty    map[int64]bool // rows that have to be written
	touched  []taskKey      // tasks that have to be written
	isDirty  map[taskKey]bool
	waitsFor map[int64][]int64 // who depends on a job, as far as that was asked
	paths    map[string]int32  // pools that are new in this transaction

	deltas  map[int32]*delta
	byDay   map[dayKey]float64
	changes []fairlead.Change
	events  []fairlead.Event
	hint    bool // the feed is written to even without changes: there is something to settle
}

// line is what statements go through: a connection, or a transaction of the program's own.
type line interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

type taskKey struct {
	job int64
	idx int
}

// nowText is the time in SQL, of which the first parameter is a clock that was given. It
// is that of the beginning of the transaction.
const (
	nowText   = `coalesce($1::bigint, ` + clockText + `)`
	clockText = `(extract(epoch FROM now()) * 1000000)::bigint * 1000`
)

// beginText sets the transaction up. The planner must not rely on what it thinks to know
// of tables that are empty at one moment and large at the next: rows are found by their
// keys. Statements leave no other way: by LATERAL, or by id = ANY beside the join, which is
// then done by hashing and not row by row. (What it is kept from it takes for very costly, and worth compiling: that it must
// not do either.) A process that is stopped in the middle must not hold its locks for ever.
const beginText = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_nestloop', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true), set_config('idle_in_transaction_session_timeout', '15s', true),
	` + nowText + `, id, half_life, reference, days FROM @.clock ORDER BY id DESC LIMIT 1`

// repeat is write for what may as well be done twice: it is done again when nobody knows
// whether it took effect.
func (s *Store) repeat(ctx context.Context, f func(*tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	for n := 0; ; n++ {
		err := s.write(ctx, f)
		if lost := (unknown{}); !errors.As(err, &lost) || !pause(ctx, n) {
			return err
		}
	}
}

// write runs f in a transaction, again if others were in its way or the database was
// away: f leaves nothing behind but what it does to the transaction.
func (s *Store) write(ctx context.Context, f func(*tx) error) error {
	return s.writeEarly(ctx, func(t *tx) error {
		if err := t.do(); err != nil {
			return err
		}
		return f(t)
	})
}

// writeEarly is write for an f that begins while the transaction has not: what the time is, and
// by which clock usage is counted, it knows after the first do. That saves a trip to the
// database.
func (s *Store) writeEarly(ctx context.Context, f func(*tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	for n := 0; ; n++ {
		if err := s.alive(ctx); err != nil {
			return err
		}
		err := s.transact(ctx, f)
		if err == nil {
			s.answers()
			return nil
		}
		if !conflict(err) {
			s.away.Store(time.Now().UnixNano())
		}
		if passing(err) && !conflict(err) && ctx.Err() == nil {
			s.silent(err)
		}
		if lost := (unknown{}); errors.As(err, &lost) || !passing(err) || !pause(ctx, n) {
			return explain(err)
		}
	}
}

// silent notes that the database does not answer, and says so once.
func (s *Store) silent(err error) {
	if s.lost.CompareAndSwap(0, time.Now().UnixNano()) && s.options.Logger != nil {
		s.options.Logger.Warn("the database does not answer; calls wait for it", "timeout", s.options.Timeout, "error", err)
	}
}

// answers notes that it does.
func (s *Store) answers() {
	if s.lost.Load() == 0 {
		return
	}
	if since := s.lost.Swap(0); since != 0 && s.options.Logger != nil {
		s.options.Logger.Info("the database answers again", "after", time.Since(time.Unix(0, since)).Round(time.Millisecond))
	}
}

// wasAway reports whether a call has found the database away within the time that leases
// are given when a server comes back: nobody could renew them.
func (s *Store) wasAway() bool {
	return s.options.Grace > 0 && time.Since(time.Unix(0, s.away.Load())) < s.options.Grace
}

// changeLists are for the changes of transactions: they are large, and gone once they are written.
var changeLists = sync.Pool{New: func() any { return &[]fairlead.Change{} }}

func (s *Store) transact(ctx context.Context, f func(*tx) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	changes := changeLists.Get().(*[]fairlead.Change)
	t := &tx{s: s, ctx: ctx, line: conn, batch: &pgx.Batch{}, changes: (*changes)[:0]}
	defer func() {
		clear(t.changes)
		*changes = t.changes
		changeLists.Put(changes)
	}()
	t.begin()
	if err = f(t); err == nil {
		err = t.commit()
	}
	if err != nil && conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		conn.Exec(back, "ROLLBACK") // or else the connection is dropped
	}
	if err != nil {
		return err
	}
	t.committed()
	return nil
}

// at is the instant of the transaction for a statement, nil if only the database knows it yet.
func (t *tx) at() *int64 {
	if t.now.IsZero() {
		return t.s.now()
	}
	n := life.Nanos(t.now)
	return &n
}

// queue adds a statement that returns nothing.
func (t *tx) queue(sql string, args ...any) {
	t.batch.Queue(t.s.sql(sql), args...)
	t.results = append(t.results, func(r pgx.BatchResults) error { _, err := r.Exec(); return err })
}

// ask adds a query; scan is called for each row when it is sent.
func (t *tx) ask(sql string, scan func(pgx.Rows) error, args ...any) {
	t.batch.Queue(t.s.sql(sql), args...)
	t.results = append(t.results, func(r pgx.BatchResults) error {
		rows, err := r.Query()
		if err != nil {
			return err
		}
		return each(rows, scan)
	})
}

// each reads rows to their end.
func each(rows pgx.Rows, scan func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// begin gathers what begins the transaction.
func (t *tx) begin() {
	t.queue("BEGIN")
	var no string
	t.ask(beginText, func(r pgx.Rows) error {
		var now, half, reference int64
		err := r.Scan(&no, &no, &no, &no, &no, &no, &now, &t.clockID, &half, &reference, &t.days)
		t.now, t.clock = life.Instant(now), usage.NewClock(life.Instant(reference), time.Duration(half))
		return err
	}, t.s.now())
}

// do sends what was gathered.
func (t *tx) do() error {
	if len(t.results) == 0 {
		return nil
	}
	batch, results := t.batch, t.results
	t.batch, t.results = &pgx.Batch{}, nil
	r := t.line.SendBatch(t.ctx, batch)
	var err error
	for _, f := range results {
		if err = f(r); err != nil {
			break
		}
	}
	return errors.Join(err, r.Close())
}

// commit writes what was gathered in memory and ends the transaction.
func (t *tx) commit() error {
	if err := t.flush(); err != nil {
		return err
	}
	t.queue("COMMIT")
	err := t.do()
	var refused *pgconn.PgError
	if err != nil && !errors.As(err, &refused) && !pgconn.SafeToRetry(err) {
		return unknown{err}
	}
	return err
}

// committed does in memory what follows from a transaction.
func (t *tx) committed() {
	s := t.s
	if len(t.paths) > 0 {
		s.mu.Lock()
		for path, id := range t.paths {
			s.pools[path], s.paths[id] = id, path
		}
		s.mu.Unlock()
	}
	if len(t.deltas) > 0 || len(t.changes) > 0 {
		s.roll.due(s)
	}
	if wakes(t.changes) {
		s.feed.Wake()
	}
	if len(t.changes) > 0 {
		s.wake.due(s)
	}
}

// read runs f on a connection, again if the database was away.
func (s *Store) read(ctx context.Context, f func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	for n := 0; ; n++ {
		if err := s.alive(ctx); err != nil {
			return err
		}
		err := s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return f(ctx, c) })
		if err == nil || !passing(err) || !pause(ctx, n) {
			return explain(err)
		}
	}
}

// query calls scan for each row of a query.
func (s *Store) query(ctx context.Context, sql string, scan func(pgx.Rows) error, args ...any) error {
	return s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, s.sql(sql), args...)
		if err != nil {
			return err
		}
		n := 0
		err = each(rows, func(r pgx.Rows) error { n++; return scan(r) })
		if err != nil && n > 0 {
			return partial{err}
		}
		return err
	})
}
