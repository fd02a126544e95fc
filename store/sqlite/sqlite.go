// Package sqlite is a store in one SQLite file, for a laptop or a cluster with one server. Everything that it
// acknowledges is on disk: the write-ahead log is synced at every commit. One writer serves all callers. Simultaneous
// calls share a transaction and its sync (group commit), and each call is acknowledged only after the sync.
//
// Only one process at a time uses the file. That process keeps the ends of leases in memory: renewing writes nothing,
// and after a restart every lease gets a fresh grace period.
package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/internal/filelock"
	"github.com/fairlead/fairlead/queue"
)

// Options are the settings of a store. The zero value is usable.
type Options struct {
	// Unit is the resource that tasks are charged for; default cpu.
	Unit string
	// Grace is how long leases of a stopped process last after Open; default a minute.
	Grace time.Duration
	// Logger gets an error when the file was removed or replaced, and a line when the file is back. The default
	// discards both.
	Logger *slog.Logger
}

// Store implements queue.Store in a SQLite file.
type Store struct {
	file    string
	options Options
	lock    *filelock.Lock // of the lock file, which names the process
	place   *place
	readers *sqlitex.Pool
	writer  *writer
	ballast ballast
	mem     *memory
}

var (
	_ queue.Store      = (*Store)(nil)
	_ queue.Notifier   = (*Store)(nil)
	_ queue.Accountant = (*Store)(nil)
	_ queue.Journal    = (*Store)(nil)
	_ queue.Settings   = (*Store)(nil)
	_ queue.Auditor    = (*Store)(nil)
	_ queue.Forgetter  = (*Store)(nil)
	_ queue.RateKeeper = (*Store)(nil)

	_ queue.HistoryKeeper = (*Store)(nil)
)

// Close implements queue.Store. It finishes calls in progress first.
func (s *Store) Close() error {
	if !s.mem.close() {
		return nil
	}
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.place != nil { // after all connections: closing the file drops the locks that SQLite has on it
		errs = append(errs, s.place.own.Release())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}

// write runs f in a transaction and returns when it is on disk. If ctx ends first, f may still take effect.
func (s *Store) write(ctx context.Context, grows bool, f func(*tx) error) error {
	return s.writer.do(ctx, op{run: f, grows: grows})
}

// writeEach calls do for each item in one transaction, and returns the results.
func writeEach[T, R any](ctx context.Context, s *Store, all []T, do func(*tx, T) (R, error)) ([]R, error) {
	out := make([]R, len(all))
	err := s.write(ctx, false, func(t *tx) (err error) {
		for i, x := range all {
			if out[i], err = do(t, x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // the function do may still be running
		return nil, err
	}
	return out, nil
}

// read runs f on a connection that sees everything that was acknowledged.
func (s *Store) read(ctx context.Context, f func(*sqlite.Conn) error) error {
	if err := s.mem.alive(); err != nil {
		return err
	}
	conn, err := s.readers.Take(ctx)
	if err != nil {
		return explain(err)
	}
	defer s.readers.Put(conn)
	return explain(f(conn))
}

// Notify implements queue.Notifier.
func (s *Store) Notify(c chan<- struct{}) (stop func()) { return s.mem.feed.Notify(c) }

// Changes implements queue.Store.
func (s *Store) Changes(ctx context.Context, cursor int64, most int) ([]queue.Change, int64, error) {
	s.mem.mu.Lock()
	defer s.mem.mu.Unlock()
	if s.mem.closed {
		return nil, 0, queue.ErrClosed
	}
	return s.mem.feed.After(cursor, most)
}
