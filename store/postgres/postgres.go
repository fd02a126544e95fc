// Package postgres is a store in a PostgreSQL database, version 14 or later. Everything that it acknowledges is
// committed, as durably as the database is configured.
//
// Several Store values may use one schema. Each engine needs its own: a Store reports to its engine the leases of all
// others, and assumes that the engine knows its own. All shared state is in the database, and the clock of the database
// decides about leases.
//
// Connections may come from a pooler that hands them out by transaction, such as PgBouncer. Therefore the store keeps
// nothing in a session, and every statement names its schema. The store detects a pooler, and then prepares no
// statements; the parameter default_query_exec_mode of the URL overrides that. Notifications of changes need a separate
// session with the database itself, see [Options.Direct]; without it the store polls four times a second.
package postgres

import (
	"sync"

	"github.com/fairlead/fairlead/queue"
)

// Store implements queue.Store in a PostgreSQL database.
type Store struct {
	db     *database
	id     string // of the schema, even after it was moved
	writer *writer
	feed   *feed
	roll   *roller
	listen *listener
	open   *openTransactions
	limits *limitRows
	*tokens

	submissions *sharing[*queue.Job, queue.Submission]
	finishes    *sharing[queue.Result, queue.Verdict]
}

var (
	_ queue.Store      = (*Store)(nil)
	_ queue.Notifier   = (*Store)(nil)
	_ queue.Accountant = (*Store)(nil)
	_ queue.DayKeeper  = (*Store)(nil)
	_ queue.Charger    = (*Store)(nil)
	_ queue.Journal    = (*Store)(nil)
	_ queue.Settings   = (*Store)(nil)
	_ queue.Auditor    = (*Store)(nil)
	_ queue.Forgetter  = (*Store)(nil)
	_ queue.RateKeeper = (*Store)(nil)

	_ queue.HistoryKeeper = (*Store)(nil)
	_ queue.Sharer        = (*Store)(nil)
	_ queue.Peers         = (*Store)(nil)
)

// newStore returns a store whose goroutines do not run yet.
func newStore(db *database) *Store {
	s := &Store{db: db, roll: &roller{db: db}}
	s.feed = &feed{db: db, roll: s.roll}
	s.listen = &listener{db: db, feed: s.feed}
	s.writer = &writer{db: db, conns: db.pool, pools: newKnownPools(), feed: s.feed, roll: s.roll, wake: &waker{db: db}}
	s.open = &openTransactions{writer: s.writer}
	s.limits = &limitRows{writer: s.writer}
	s.tokens = &tokens{db: db, writer: s.writer}
	return s
}

// Place describes the location of the jobs, without a password.
func (s *Store) Place() string { return placeOf(s.db.pool.Config().ConnConfig, s.db.options.Schema) }

// Close implements queue.Store. Calls in progress fail or are finished first.
func (s *Store) Close() error {
	if !s.db.close() {
		return nil
	}
	s.listen.end()
	s.roll.end()
	s.writer.wake.end()
	s.db.quit()
	s.submissions.calls.Close()
	s.finishes.calls.Close()
	s.db.background.Wait()
	if !s.db.lent {
		s.db.pool.Close()
	}
	if s.db.own != nil {
		s.db.own.Close()
	}
	return nil
}

// Notify implements queue.Notifier.
func (s *Store) Notify(c chan<- struct{}) (stop func()) {
	forget := s.feed.Notify(c)
	s.listen.join()
	var once sync.Once
	return func() {
		forget()
		once.Do(s.listen.leave)
	}
}
