// Package sqlite is a store in one SQLite file, for a laptop or a cluster with one
// server. What it acknowledges is on disk: the journal is a write-ahead log that is
// synced at every commit. One writer serves all callers; calls that come at the same
// time share a transaction and its sync (group commit), each is acknowledged only
// after it.
//
// The file belongs to one process at a time. That process keeps the leases' ends in
// memory: renewing costs no write, and after a restart every lease gets a fresh
// grace period.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/filelock"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// Options are the settings of a store. The zero value is usable.
type Options struct {
	// Unit is the resource by which tasks are charged; default cpu.
	Unit string
	// Grace is how long the leases that a stopped process left last from Open on;
	// default a minute.
	Grace time.Duration
}

// Store implements fairlead.Store in a SQLite file.
type Store struct {
	file    string
	options Options
	lock    *filelock.Lock
	readers *sqlitex.Pool
	writer  *writer
	ballast ballast

	mu       sync.Mutex // guards what follows
	runs     map[taskKey]*lease
	counters map[int64]*fairlead.Counters // by pool
	accounts map[int64]account            // by pool
	pools    map[string]int64
	paths    map[int64]string
	since    map[int64]time.Time // when the first job came into each pool
	days     int                 // how many are kept
	shapes   map[string]int64
	requests map[int64]fairlead.Amounts
	awaited  map[int64]int // jobs that others depend on: by how many
	clock    usage.Clock
	feed     life.Feed
	fresh    fresh
	closed   bool
}

type taskKey struct {
	job int64
	idx int
}

// lease is what a process knows of a running task: the end of its lease, and what
// would have to be read when it ends.
type lease struct {
	ref     fairlead.Ref
	holder  string
	until   time.Time
	started time.Time
	charge  float64
	pool    int64
	job     fairlead.Header
	ending  chan struct{} // closed when it is known whether it has expired; nil: nobody ends it
}

// account is what a pool received, in the units of the store's clock.
type account struct {
	used, mean, seen, total float64
	ended                   int64
}

var (
	_ fairlead.Store      = (*Store)(nil)
	_ fairlead.Notifier   = (*Store)(nil)
	_ fairlead.Accountant = (*Store)(nil)
	_ fairlead.Journal    = (*Store)(nil)
	_ fairlead.Settings   = (*Store)(nil)
	_ fairlead.Auditor    = (*Store)(nil)
	_ fairlead.Forgetter  = (*Store)(nil)
	_ fairlead.RateKeeper = (*Store)(nil)

	_ fairlead.HistoryKeeper = (*Store)(nil)
)

// Open opens the store in the file at path, which is made if it is not there. It
// fails if another process has it open, or if it was written by a newer program.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Unit == "" {
		o.Unit = "cpu"
	}
	if o.Grace == 0 {
		o.Grace = time.Minute
	}
	s := &Store{
		file: path, options: o,
		runs: map[taskKey]*lease{}, counters: map[int64]*fairlead.Counters{}, accounts: map[int64]account{},
		pools: map[string]int64{}, paths: map[int64]string{}, since: map[int64]time.Time{}, shapes: map[string]int64{},
		requests: map[int64]fairlead.Amounts{}, awaited: map[int64]int{},
		fresh: fresh{map[int64]freshJob{}},
	}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", path, explain(err))
	}
	return s, nil
}

// lock sees to it that one process at a time has the store open.
func lock(file string) (*filelock.Lock, error) {
	l, err := filelock.Take(file + "-lock")
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("%w; stop that one first, or name another file", err)
	}
	return l, err
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.lock, err = lock(s.file); err != nil {
		return err
	}
	if err := private(s.file); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(s.file, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenWAL)
	if err != nil {
		return err
	}
	if err := prepare(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	s.readers, err = sqlitex.NewPool(s.file, sqlitex.PoolOptions{
		Flags: sqlite.OpenReadOnly | sqlite.OpenWAL, PoolSize: 2 + runtime.GOMAXPROCS(0),
	})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	if err := s.load(conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	s.ballast = ballast{path: s.file + "-ballast"}
	s.ballast.refill()
	s.writer = newWriter(s, conn)
	return nil
}

// private makes the file, if it is not there, so that nobody else can read it: jobs
// hold the environment of their users. What the engine puts beside it gets the same
// permissions.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// Close implements fairlead.Store. Calls under way are finished first.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}

// read runs f on a connection that sees everything that was acknowledged.
func (s *Store) read(ctx context.Context, f func(*sqlite.Conn) error) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return fairlead.ErrClosed
	}
	conn, err := s.readers.Take(ctx)
	if err != nil {
		return explain(err)
	}
	defer s.readers.Put(conn)
	return explain(f(conn))
}

// Notify implements fairlead.Notifier.
func (s *Store) Notify(c chan<- struct{}) (stop func()) { return s.feed.Notify(c) }

// Changes implements fairlead.Store.
func (s *Store) Changes(ctx context.Context, cursor int64, most int) ([]fairlead.Change, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, 0, fairlead.ErrClosed
	}
	return s.feed.After(cursor, most)
}

// explain translates errors of the engine into those that the interface promises.
func explain(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull:
		return fmt.Errorf("%w: %w", fairlead.ErrFull, err)
	case sqlite.ResultNotADB:
		return fmt.Errorf("the file is not a fairlead database: %w", err)
	case sqlite.ResultCorrupt:
		return fmt.Errorf("the database is damaged; restore a backup: %w", err)
	case sqlite.ResultInterrupt:
		return errors.Join(context.Canceled, err)
	}
	return err
}
