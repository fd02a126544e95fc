package sqlite

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Usage implements queue.Accountant.
func (s *Store) Usage(ctx context.Context) (queue.Accounts, error) {
	s.mem.mu.Lock()
	defer s.mem.mu.Unlock()
	if s.mem.closed {
		return queue.Accounts{}, queue.ErrClosed
	}
	return s.mem.usage(), nil
}

// usage returns the accounts. The caller holds the lock.
func (m *memory) usage() queue.Accounts {
	now := time.Now()
	growth := life.Decay(m.clock, now)
	out := queue.Accounts{HalfLife: m.clock.HalfLife(), AsOf: now, Pools: map[string]queue.Account{}}
	for path, id := range m.catalog.pools {
		a := m.accounts[id]
		acc := queue.Account{Used: a.used / growth, Mean: a.mean, Seen: a.seen / growth, Total: a.total, Ended: a.ended, Since: m.since[id], Maker: m.makers[id]}
		if c := m.counters[id]; c != nil {
			acc.Counters = *c
		}
		out.Pools[path] = acc
	}
	return out
}

// Balance implements queue.Accountant. Like Snapshot it runs between two transactions of the writer.
func (s *Store) Balance(ctx context.Context, f func(queue.Change) error) (queue.Balance, error) {
	var b queue.Balance
	var failed error
	err := s.writer.do(ctx, op{solo: true, run: func(t *tx) error {
		if f != nil {
			failed = s.snapshot(t, f)
		}
		if failed == nil {
			b.Days, failed = daysOf(t.conn)
		}
		t.then(func(m *memory) { b.Cursor, b.Accounts = m.feed.Cursor(), m.usage() })
		return nil
	}})
	if err != nil { // the function f may still be running
		return queue.Balance{}, err
	}
	return b, failed
}

// SetHalfLife implements queue.Accountant.
func (s *Store) SetHalfLife(ctx context.Context, halfLife time.Duration) error {
	return s.write(ctx, false, func(t *tx) error {
		t.ledger.rebase(halfLife)
		return nil
	})
}

// Recount implements queue.Accountant.
func (s *Store) Recount(ctx context.Context) (map[string]queue.Counters, error) {
	out := map[string]queue.Counters{}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, `SELECT path, sum(waiting), sum(running) FROM job JOIN pool ON pool.id = job.pool GROUP BY path`,
			func(r *sqlite.Stmt) {
				out[r.ColumnText(0)] = queue.Counters{Waiting: r.ColumnInt64(1), Running: r.ColumnInt64(2)}
			})
	})
	return out, err
}

// CountUsers implements queue.UserCounter.
func (s *Store) CountUsers(ctx context.Context) (map[string]queue.UserCount, error) {
	out := map[string]queue.UserCount{}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, `SELECT user, count(*), sum(waiting) FROM job WHERE open = 1 AND waiting > 0 GROUP BY user`, func(r *sqlite.Stmt) {
			out[r.ColumnText(0)] = queue.UserCount{Jobs: r.ColumnInt64(1), Tasks: r.ColumnInt64(2)}
		})
	})
	return out, err
}
