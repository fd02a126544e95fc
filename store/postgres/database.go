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

// database gives the parts of a store access to the database: its connections, its table names, its clock, and the
// timeout.
type database struct {
	options Options
	prefix  string // of the table names
	origin  int64  // marks the store's own changes in the feed; the bits of turns are 0
	pool    *pgxpool.Pool
	lent    bool            // the program owns the pool, and closes it
	own     *pgxpool.Pool   // the store's own pool beside a lent one, else nil
	texts   sync.Map        // maps statements as written to those with the schema
	direct  *pgx.ConnConfig // for sessions; nil: there are only transactions

	background sync.WaitGroup
	quit       context.CancelFunc
	living     context.Context // ends when the store is closed

	away atomic.Pointer[time.Time] // when the database was last found unavailable
	lost atomic.Int64              // when it stopped answering; 0: it answers

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
	// nowText is the time at the beginning of the transaction, or the clock given as its first parameter.
	nowText   = `coalesce($1::bigint, ` + clockText + `)`
	clockText = `(extract(epoch FROM now()) * 1000000)::bigint * 1000`
	// laterNow is nowText at the beginning of the statement.
	laterNow = `coalesce($1::bigint, ` + realNow + `)`
	// realNow is the database's clock, even if another one was given.
	realNow = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000`
)

// now returns the time of the given clock, or nil for that of the database.
func (d *database) now() *int64 {
	if d.options.Now == nil {
		return nil
	}
	n := life.Nanos(d.options.Now())
	return &n
}

// sql inserts the schema into a statement, where @. marks its names.
func (d *database) sql(text string) string {
	if full, ok := d.texts.Load(text); ok {
		return full.(string)
	}
	full := strings.ReplaceAll(text, "@.", d.prefix)
	d.texts.Store(text, full)
	return full
}

// close refuses new calls. It returns false if the store was closed before.
func (d *database) close() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.closed
	d.closed = true
	return !was
}

// alive returns an error if the store is closed.
func (d *database) alive(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return queue.ErrClosed
	}
	return ctx.Err()
}

// spawn runs f in the background, unless the store is closed. Close waits for it.
func (d *database) spawn(f func(ctx context.Context)) (began bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.background.Go(func() { f(d.living) })
	}
	return !d.closed
}

// closeGrace is how long transactions in progress may continue after the store is closed.
const closeGrace = 5 * time.Second

// outlive returns a context that ends a while after the store is closed, or when the returned function is
// called.
func (d *database) outlive() (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(d.living))
	stop := context.AfterFunc(d.living, func() { time.AfterFunc(closeGrace, cancel) })
	return ctx, func() { stop(); cancel() }
}

// read runs f on a connection, and tries again if the database was unavailable.
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

// silent records that the database does not answer, and logs it once.
func (d *database) silent(err error) {
	if d.lost.CompareAndSwap(0, time.Now().UnixNano()) {
		d.options.Logger.Warn("the database does not answer; calls wait for it", "timeout", d.options.Timeout, "error", err)
	}
}

// answers records that the database answers.
func (d *database) answers() {
	if d.lost.Load() == 0 {
		return
	}
	if since := d.lost.Swap(0); since != 0 {
		d.options.Logger.Info("the database answers again", "after", time.Since(time.Unix(0, since)).Round(time.Millisecond))
	}
}

// wasAway reports whether a call has found the database unavailable within the grace period of leases: nobody could
// renew them then.
func (d *database) wasAway() bool {
	latest := d.away.Load() // monotonic clock
	return d.options.Grace > 0 && latest != nil && time.Since(*latest) < d.options.Grace
}

// late returns how long ago the attempt of a result ended, by the clock of this process, which may differ from that of
// the database.
func (d *database) late(res queue.Result) time.Duration {
	now := time.Now
	if d.options.Now != nil {
		now = d.options.Now
	}
	return usage.Late(res.Began, res.Ended, now())
}

// The pauses between tries double, with a random part, so that many callers do not come at once.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 2 * time.Second
)

// pause waits before the n-th retry; it returns false if there is no time for that.
func pause(ctx context.Context, n int) bool {
	d := min(firstPause<<min(n, 10), longestPause)
	return wait.For(ctx, d/2+rand.N(d))
}

// each reads all rows.
func each(rows pgx.Rows, scan func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
