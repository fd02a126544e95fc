package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// usageText reads the accounts of all pools: the sums, and the changes not yet rolled up.
const usageText = `WITH c AS (SELECT half_life, reference FROM @.clock ORDER BY id DESC LIMIT 1),
	gone AS (SELECT * FROM @.delta),
	d AS (` + summed + `)
	SELECT ` + nowText + `, c.half_life, c.reference, p.path, p.since, p.maker, p.waiting + coalesce(d.waiting, 0), p.running + coalesce(d.running, 0),
		p.used + coalesce(d.used, 0), p.seen + coalesce(d.seen, 0), p.length + coalesce(d.length, 0),
		p.total + coalesce(d.total, 0), p.ended + coalesce(d.ended, 0)
	FROM c LEFT JOIN @.pool AS p ON true LEFT JOIN d ON d.pool = p.id`

// Usage implements queue.Accountant.
func (s *Store) Usage(ctx context.Context) (queue.Accounts, error) {
	out := queue.Accounts{Pools: map[string]queue.Account{}}
	err := s.db.query(ctx, usageText, accountsInto(&out), s.db.now())
	return out, err
}

// accountsInto reads the rows of usageText.
func accountsInto(out *queue.Accounts) func(pgx.Rows) error {
	return func(r pgx.Rows) error {
		var now, half, reference int64
		var path, maker *string
		var since, waiting, running, ended *int64
		var used, seen, length, total *float64
		if err := r.Scan(&now, &half, &reference, &path, &since, &maker, &waiting, &running, &used, &seen, &length, &total,
			&ended); err != nil {
			return err
		}
		clock := usage.NewClock(life.Instant(reference), time.Duration(half))
		out.HalfLife, out.AsOf = clock.HalfLife(), life.Instant(now)
		if path == nil {
			return nil // there are no pools
		}
		growth := life.Decay(clock, out.AsOf)
		a := queue.Account{
			Counters: queue.Counters{Waiting: *waiting, Running: *running},
			Used:     *used / growth, Seen: *seen / growth, Total: *total, Ended: *ended, Since: life.Instant(*since), Maker: *maker,
		}
		if *seen > 0 {
			a.Mean = *length / *seen
		}
		out.Pools[*path] = a
		return nil
	}
}

// Balance implements queue.Accountant.
func (s *Store) Balance(ctx context.Context, f func(queue.Change) error) (b queue.Balance, err error) {
	err = s.readConsistent(ctx, f, func(t pgx.Tx, cursor int64) error {
		b = queue.Balance{Cursor: cursor, Accounts: queue.Accounts{Pools: map[string]queue.Account{}}}
		if err := s.db.rows(ctx, t, usageText, accountsInto(&b.Accounts), s.db.now()); err != nil {
			return err
		}
		return s.db.rows(ctx, t, daysText, daysInto(&b.Days))
	})
	return b, err
}

// SetHalfLife implements queue.Accountant.
func (s *Store) SetHalfLife(ctx context.Context, halfLife time.Duration) error {
	_, err := s.writer.repeat(ctx, func(t *tx) error { return t.ledger.rebase(halfLife) })
	return err
}

// Recount implements queue.Accountant.
func (s *Store) Recount(ctx context.Context) (map[string]queue.Counters, error) {
	out := map[string]queue.Counters{}
	err := s.db.query(ctx, `SELECT path, sum(j.waiting)::bigint, coalesce(sum(j.running), 0)::bigint FROM @.job AS j JOIN @.pool AS p ON p.id = j.pool GROUP BY path`,
		func(r pgx.Rows) error {
			var path string
			var c queue.Counters
			err := r.Scan(&path, &c.Waiting, &c.Running)
			out[path] = c
			return err
		})
	return out, err
}

// CountUsers implements queue.UserCounter.
func (s *Store) CountUsers(ctx context.Context) (map[string]queue.UserCount, error) {
	out := map[string]queue.UserCount{}
	err := s.db.query(ctx, `SELECT username, count(*), sum(waiting)::bigint FROM @.job WHERE waiting > 0 GROUP BY username`, func(r pgx.Rows) error {
		var user string
		var c queue.UserCount
		err := r.Scan(&user, &c.Jobs, &c.Tasks)
		out[user] = c
		return err
	})
	return out, err
}

// KeepDays implements queue.DayKeeper.
func (s *Store) KeepDays(ctx context.Context, n int) error {
	_, err := s.writer.repeat(ctx, func(t *tx) error {
		if t.ledger.days == n {
			return nil
		}
		t.ledger.alone()
		t.trip.queue(`UPDATE @.clock SET days = $1`, n)
		t.trip.queue(`DELETE FROM @.day WHERE day <= $1`, life.Day(t.trip.now)-int64(n))
		t.trip.queue(`DELETE FROM @.day_delta WHERE day <= $1`, life.Day(t.trip.now)-int64(n))
		return nil
	})
	return err
}

// daysText reads the usage by days: the sums, and the changes not yet rolled up.
const daysText = `SELECT path, day, sum(d.used) FROM (SELECT * FROM @.day UNION ALL SELECT * FROM @.day_delta) AS d
	JOIN @.pool AS p ON p.id = d.pool GROUP BY path, day ORDER BY path COLLATE "C", day`

// daysInto reads the rows of daysText.
func daysInto(out *[]queue.DayUsage) func(pgx.Rows) error {
	return func(r pgx.Rows) error {
		var d queue.DayUsage
		var day int64
		err := r.Scan(&d.Pool, &day, &d.Used)
		d.Day = life.Midnight(day)
		*out = append(*out, d)
		return err
	}
}

// Days implements queue.DayKeeper.
func (s *Store) Days(ctx context.Context) (out []queue.DayUsage, err error) {
	err = s.db.query(ctx, daysText, daysInto(&out))
	return out, err
}

// SetUsed implements queue.Charger.
func (s *Store) SetUsed(ctx context.Context, used map[string]float64) error {
	return s.writer.do(ctx, func(t *tx) error {
		t.report(queue.Change{What: queue.Changed, Reason: engine.UsageReset})
		t.ledger.alone()
		t.rollUp()
		for path, amount := range used {
			t.pools.ask(map[string]string{path: ""})
			if err := t.trip.do(); err != nil {
				return err
			}
			pool, err := t.pools.intern(path, "")
			if err != nil {
				return err
			}
			t.trip.queue(`UPDATE @.pool SET used = $2 WHERE id = $1`, pool, amount*life.Decay(t.ledger.clock, t.trip.now))
			t.trip.queue(`DELETE FROM @.day WHERE pool = $1`, pool)
			if t.ledger.days > 0 && amount > 0 {
				t.ledger.bookDay(pool, life.Day(t.trip.now), amount)
			}
		}
		return nil
	})
}
