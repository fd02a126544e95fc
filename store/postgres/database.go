package postgres

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// database is how the parts of a store reach the database: its connections, the names of its
// tables, its clock, and how long the store may use it.
type database struct {
	options Options
	prefix  string // of the names of tables
	origin  int64  // tells the store's changes from those of others; its turns are 0
	pool    *pgxpool.Pool
	lent    bool            // the pool is the program's, which closes it
	own     *pgxpool.Pool   // beside one that is lent, else nil
	texts   sync.Map        // statements as they were written, to those with the schema in them
	direct  *pgx.ConnConfig // of sessions; nil: there are none, but transactions only

	background sync.WaitGroup
	quit       context.CancelFunc
	living     context.Context // until the store is closed

	away atomic.Pointer[time.Time] // when the database was last found to be away
	lost atomic.Int64              // since when it has not answered; 0: it does

	mu     sync.Mutex // guards closed
	closed bool
}

// newDatabase returns a database that has no connections yet.
func newDatabase(ctx context.Context, o Options) *database {
	d := &database{options: o, prefix: pgx.Identifier{o.Schema}.Sanitize() + ".", origin: rand.Int64() &^ turns}
	d.living, d.quit = context.WithCancel(context.WithoutCancel(ctx))
	return d
}

// The time in SQL.
const (
	// nowText is the time at the beginning of the transaction; its first parameter is a clock
	// that was given.
	nowText   = `coalesce($1::bigint, ` + clockText + `)`
	clockText = `(extract(epoch FROM now()) * 1000000)::bigint * 1000`
	// laterNow is nowText at the beginning of the statement.
	laterNow = `coalesce($1::bigint, ` + realNow + `)`
	// realNow is the database's clock, also where another one was given.
	realNow = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000`
)

// now is the time of a clock that was given, else nil: that of the database.
func (d *database) now() *int64 {
	if d.options.Now == nil {
		return nil
	}
	n := life.Nanos(d.options.Now())
	return &n
}

// sql puts the schema into a statement, in which @. stands before its names.
func (d *database) sql(text string) string {
	if full, ok := d.texts.Load(text); ok {
		return full.(string)
	}
	full := strings.ReplaceAll(text, "@.", d.prefix)
	d.texts.Store(text, full)
	return full
}

// close refuses new calls and returns false if that is the case already.
func (d *database) close() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.closed
	d.closed = true
	return !was
}

// alive fails if the store is closed.
func (d *database) alive(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return queue.ErrClosed
	}
	return ctx.Err()
}

// spawn runs f beside, unless the store is closed. Close waits for it.
func (d *database) spawn(f func(ctx context.Context)) (began bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.background.Go(func() { f(d.living) })
	}
	return !d.closed
}

// closeGrace is how long transactions may go on that are under way when the store is closed.
const closeGrace = 5 * time.Second

// outlive returns a context that ends a while after the store is closed, or with the function.
func (d *database) outlive() (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(d.living))
	stop := context.AfterFunc(d.living, func() { time.AfterFunc(closeGrace, cancel) })
	return ctx, func() { stop(); cancel() }
}

// read runs f on a connection, again if the database was away.
func (d *database) read(caller context.Context, f func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(caller, d.options.Timeout)
	defer cancel()
	for n := 0; ; n++ {
		if err := d.alive(ctx); err != nil {
			return unavailable(caller, err)
		}
		err := d.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return f(ctx, c) })
		if err == nil || !transient(err) || !pause(ctx, n) {
			return unavailable(caller, explain(err))
		}
	}
}

// query calls scan for each row of a query.
func (d *database) query(ctx context.Context, sql string, scan func(pgx.Rows) error, args ...any) error {
	return d.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		n := 0
		err := d.rows(ctx, c, sql, func(r pgx.Rows) error { n++; return scan(r) }, args...)
		if err != nil && n > 0 {
			return partial{err}
		}
		return err
	})
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// rows calls scan for each row of a query on a connection or in a transaction.
func (d *database) rows(ctx context.Context, q querier, sql string, scan func(pgx.Rows) error, args ...any) error {
	rows, err := q.Query(ctx, d.sql(sql), args...)
	if err != nil {
		return err
	}
	return each(rows, scan)
}

// silent notes that the database does not answer, and says so once.
func (d *database) silent(err error) {
	if d.lost.CompareAndSwap(0, time.Now().UnixNano()) {
		d.options.Logger.Warn("the database does not answer; calls wait for it", "timeout", d.options.Timeout, "error", err)
	}
}

// answers notes that it does.
func (d *database) answers() {
	if d.lost.Load() == 0 {
		return
	}
	if since := d.lost.Swap(0); since != 0 {
		d.options.Logger.Info("the database answers again", "after", time.Since(time.Unix(0, since)).Round(time.Millisecond))
	}
}

// wasAway reports whether a call has found the database away within the time that leases
// are given when a server comes back: nobody could renew them.
func (d *database) wasAway() bool {
	latest := d.away.Load() // by the clock that nobody sets
	return d.options.Grace > 0 && latest != nil && time.Since(*latest) < d.options.Grace
}

// late is for how long the attempt of a result has ended. It is measured by the clock of this process, which may
// differ from that of the database.
func (d *database) late(res queue.Result) time.Duration {
	now := time.Now
	if d.options.Now != nil {
		now = d.options.Now
	}
	return usage.Late(res.Began, res.Ended, now())
}

// The pauses between tries, which double, with chance, so that many do not come at once.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 2 * time.Second
)

// pause waits before the n-th new try; it returns false when there is no time for that.
func pause(ctx context.Context, n int) bool {
	d := min(firstPause<<min(n, 10), longestPause)
	return wait.For(ctx, d/2+rand.N(d))
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
