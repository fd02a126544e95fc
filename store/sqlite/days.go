package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

const daysKept = "days"

// KeepDays implements queue.DayKeeper.
func (s *Store) KeepDays(ctx context.Context, n int) error {
	s.mem.mu.Lock()
	same := s.mem.days == n
	s.mem.mu.Unlock()
	if same {
		return nil
	}
	return s.write(ctx, false, func(t *tx) error {
		if err := set(t.conn, daysKept, int64(n)); err != nil {
			return err
		}
		t.then(func(m *memory) { m.days = n })
		b := binder{stmt: t.conn.Prep(`DELETE FROM day WHERE day <= ?`)}
		return exec(b.int64(life.Day(t.now) - int64(n)).stmt)
	})
}

// Days implements queue.DayKeeper.
func (s *Store) Days(ctx context.Context) (out []queue.DayUsage, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) { out, err = daysOf(conn); return err })
	return out, err
}

// daysOf reads the usage by days.
func daysOf(conn *sqlite.Conn) (out []queue.DayUsage, err error) {
	err = each(conn, `SELECT path, day, day.used FROM day JOIN pool ON pool.id = day.pool ORDER BY path, day`, func(r *sqlite.Stmt) {
		out = append(out, queue.DayUsage{Pool: r.ColumnText(0), Day: life.Midnight(r.ColumnInt64(1)), Used: r.ColumnFloat(2)})
	})
	return out, err
}

// SetUsed implements queue.Charger.
func (s *Store) SetUsed(ctx context.Context, used map[string]float64) error {
	return s.write(ctx, false, func(t *tx) error {
		for path, amount := range used {
			if err := t.setUsed(path, amount); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) setUsed(path string, amount float64) error {
	pool, err := t.numbers.pool(path, "")
	if err != nil {
		return err
	}
	a := t.ledger.account(pool)
	a.used = amount * life.Decay(t.ledger.clock, t.now)
	t.ledger.accounts[pool] = a
	b := binder{stmt: t.conn.Prep(`DELETE FROM day WHERE pool = ?`)}
	if err := exec(b.int64(pool).stmt); err != nil {
		return err
	}
	if t.mem.days > 0 && amount > 0 {
		t.ledger.day(pool, life.Day(t.now), amount)
	}
	return nil
}
