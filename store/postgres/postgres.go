// Package postgres is a store in a PostgreSQL database, from version 14 on. What it
// acknowledges is committed, as durably as the database is set to.
//
// Several stores may use one schema, and each loop needs one of its own: the changes tell it what
// other stores lease, and take what its own leases for known. All that must be agreed on is in the database, and
// its clock is the one that counts for leases. Nothing is kept for the length of a
// session, and no statement names a schema that it relies on being set: connections may
// come from a pooler that hands them out by transaction, such as PgBouncer. The store notices
// that, and then prepares no statements, unless the URL says default_query_exec_mode. Being told
// of changes takes a session of its own with the database itself, see [Options.Direct]; without
// it the store looks for them four times a second.
package postgres

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Options are the settings of a store. The zero value is usable.
type Options struct {
	// Unit is the resource by which tasks are charged; default cpu.
	Unit string
	// Schema is where the tables are, which are made if they are not there; default is what
	// the URL says as schema=NAME, else fairlead.
	Schema string
	// Grace is how long leases last from Open on, if no other server is there, and after the
	// database was away: nobody could renew them. Default: no longer than they do.
	Grace time.Duration
	// Direct is HOST:PORT of the database itself, where the URL is that of a pooler such as
	// PgBouncer; default is what the URL says as direct=HOST:PORT.
	Direct string
	// Timeout bounds every call; default 30 seconds.
	Timeout time.Duration
	// Now is the clock; default that of the database, which all who share it need. Tests
	// give virtual time.
	Now    func() time.Time
	Logger *slog.Logger // default: discards
}

// Store implements fairlead.Store in a PostgreSQL database.
type Store struct {
	options Options
	prefix  string // of the names of tables
	origin  int64  // tells its changes from those of others
	pool    *pgxpool.Pool
	texts   sync.Map        // statements as they were written, to those with the schema in them
	tolls   sync.Map        // keys of rows of toll that are there
	direct  *pgx.ConnConfig // of sessions; nil: there are none, but transactions only

	background sync.WaitGroup
	quit       context.CancelFunc
	living     context.Context // until Close

	feed        feed
	listen      listener
	roll        roller
	wake        waker
	open        opened
	submissions gathering[*fairlead.Job, fairlead.Submission]
	finishes    gathering[fairlead.Result, fairlead.Verdict]

	id   string       // of the schema, wherever it was moved
	away atomic.Int64 // when the database was last found to be away
	lost atomic.Int64 // since when it has not answered; 0: it does

	mu     sync.Mutex // guards what follows
	pools  map[string]int32
	paths  map[int32]string
	closed bool
}

var (
	_ fairlead.Store      = (*Store)(nil)
	_ fairlead.Notifier   = (*Store)(nil)
	_ fairlead.Accountant = (*Store)(nil)
	_ fairlead.DayKeeper  = (*Store)(nil)
	_ fairlead.Charger    = (*Store)(nil)
	_ fairlead.Journal    = (*Store)(nil)
	_ fairlead.Settings   = (*Store)(nil)
	_ fairlead.Auditor    = (*Store)(nil)
	_ fairlead.Forgetter  = (*Store)(nil)
	_ fairlead.RateKeeper = (*Store)(nil)

	_ fairlead.HistoryKeeper = (*Store)(nil)
	_ fairlead.Sharer        = (*Store)(nil)
	_ fairlead.Peers         = (*Store)(nil)
)

// Open opens the store in the database at a URL, such as postgres://user@host/name, or
// a string of keywords and values, host=... dbname=...
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Unit == "" {
		o.Unit = "cpu"
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	parameters := config.ConnConfig.RuntimeParams
	o.Schema = cmp.Or(o.Schema, parameters["schema"], "fairlead")
	o.Direct = cmp.Or(o.Direct, parameters["direct"])
	delete(parameters, "schema")
	delete(parameters, "direct")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if parameters["application_name"] == "" {
		parameters["application_name"] = "fairlead"
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	s := &Store{
		options: o, prefix: pgx.Identifier{o.Schema}.Sanitize() + ".", origin: rand.Int64(),
		pools: map[string]int32{}, paths: map[int32]string{},
	}
	s.living, s.quit = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.setUp(ctx, config, strings.Contains(url, "default_query_exec_mode")); err != nil {
		s.quit()
		return nil, fmt.Errorf("open %s: %w", placeOf(config.ConnConfig, o.Schema), explain(err))
	}
	if s.pool, err = pgxpool.NewWithConfig(s.living, config); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", s.Place(), explain(err))
	}
	return s, nil
}

// Place says where the jobs are, without a password.
func (s *Store) Place() string { return placeOf(s.pool.Config().ConnConfig, s.options.Schema) }

func placeOf(c *pgx.ConnConfig, schema string) string {
	host := c.Host
	if !strings.HasPrefix(host, "/") { // or else it is the directory of a socket
		host = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	return fmt.Sprintf("PostgreSQL at %s, database %s, schema %s", host, c.Database, schema)
}

// graceText lets no lease run out before $1, if nobody was there at $2 to whom it could have been
// renewed.
const graceText = `WITH l AS (UPDATE @.lease SET until = $1 WHERE until < $1 AND NOT EXISTS (SELECT FROM @.server WHERE server.until > $2) RETURNING jobs),
	i AS (SELECT unnest(jobs) AS id FROM l),
	j AS (UPDATE @.job SET until = $1 WHERE id = ANY(ARRAY(SELECT id FROM i)) AND state IN (3, 7) AND until < $1)
	UPDATE @.task SET until = $1 WHERE job = ANY(ARRAY(SELECT id FROM i)) AND t_state = 3 AND until < $1`

func (s *Store) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if s.options.Grace > 0 {
		err := s.write(ctx, func(t *tx) error {
			t.queue(graceText,
				life.Nanos(t.now.Add(s.options.Grace)), life.Nanos(t.now))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return s.feed.begin(ctx, s)
}

// Close implements fairlead.Store. Calls under way fail or are finished first.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.listen.end()
	s.roll.end(s)
	s.wake.end()
	s.quit()
	s.background.Wait()
	s.pool.Close()
	return nil
}

// alive fails if the store is closed.
func (s *Store) alive(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fairlead.ErrClosed
	}
	return ctx.Err()
}

// spawn runs f beside, unless the store is closed. Close waits for it.
func (s *Store) spawn(f func(ctx context.Context)) (began bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.background.Go(func() { f(s.living) })
	}
	return !s.closed
}

// sql puts the schema into a statement, in which @. stands before its names.
func (s *Store) sql(text string) string {
	if full, ok := s.texts.Load(text); ok {
		return full.(string)
	}
	full := strings.ReplaceAll(text, "@.", s.prefix)
	s.texts.Store(text, full)
	return full
}

// now is the time of a clock that was given, else nil: that of the database.
func (s *Store) now() *int64 {
	if s.options.Now == nil {
		return nil
	}
	n := life.Nanos(s.options.Now())
	return &n
}

// The pauses between tries, which double, with chance, so that many do not come at once.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 2 * time.Second
)

// pause waits before the n-th new try; it returns false when there is no time for that.
func pause(ctx context.Context, n int) bool {
	d := min(firstPause<<min(n, 10), longestPause)
	select {
	case <-time.After(d/2 + rand.N(d)):
		return true
	case <-ctx.Done():
		return false
	}
}
