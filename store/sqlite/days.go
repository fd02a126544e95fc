package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// dayKey is the key of what a pool received on a day.
type dayKey struct{ pool, day int64 }

const daysKept = "days"

// KeepDays implements fairlead.DayKeeper.
func (s *Store) KeepDays(ctx context.Context, n int) error {
	s.mu.Lock()
	same := s.days == n
	s.mu.Unlock()
	if same {
		return nil
	}
	return s.write(ctx, false, func(t *tx) error {
		if err := t.set(daysKept, int64(n)); err != nil {
			return err
		}
		t.then(func(s *Store) { s.days = n })
		b := binder{stmt: t.conn.Prep(`DELETE FROM day WHERE day <= ?`)}
		return exec(b.int64(life.Day(t.now) - int64(n)).stmt)
	})
}

// Days implements fairlead.DayKeeper.
func (s *Store) Days(ctx context.Context) (out []fairlead.DayUsage, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, `SELECT path, day, day.used FROM day JOIN pool ON pool.id = day.pool ORDER BY path, day`, func(r *sqlite.Stmt) {
			out = append(out, fairlead.DayUsage{Pool: r.ColumnText(0), Day: life.Midnight(r.ColumnInt64(1)), Used: r.ColumnFloat(2)})
		})
	})
	return out, err
}

// SetUsed implements fairlead.Charger.
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
	pool, err := t.pool(path)
	if err != nil {
		return err
	}
	a := t.account(pool)
	a.used = amount * life.Decay(t.clock, t.now)
	t.accounts[pool] = a
	b := binder{stmt: t.conn.Prep(`DELETE FROM day WHERE pool = ?`)}
	if err := exec(b.int64(pool).stmt); err != nil {
		return err
	}
	if t.s.days > 0 && amount > 0 {
		t.day(pool, life.Day(t.now), amount)
	}
	return nil
}

// account is what a pool received, as changed by this transaction.
func (t *tx) account(pool int64) account {
	if t.accounts == nil {
		t.accounts = map[int64]account{}
	}
	a, ok := t.accounts[pool]
	if !ok {
		a = t.s.accounts[pool]
	}
	return a
}

// day books an amount on a day.
func (t *tx) day(pool, day int64, amount float64) {
	if t.days == nil {
		t.days = map[dayKey]float64{}
	}
	t.days[dayKey{pool, day}] += amount
}

// flushDays writes what was booked.
func (t *tx) flushDays() error {
	for k, amount := range t.days {
		stmt := t.conn.Prep(`INSERT INTO day (pool, day, used) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET used = used + excluded.used`)
		stmt.BindInt64(1, k.pool)
		stmt.BindInt64(2, k.day)
		stmt.BindFloat(3, amount)
		if err := exec(stmt); err != nil {
			return err
		}
	}
	return nil
}
