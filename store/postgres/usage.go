package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// usageText reads the accounts of all pools: what was rolled up, and what was not yet.
const usageText = `WITH c AS (SELECT half_life, reference FROM @.clock ORDER BY id DESC LIMIT 1),
	gone AS (SELECT * FROM @.delta),
	d AS (` + summed + `)
	SELECT ` + nowText + `, c.half_life, c.reference, p.path, p.since, p.waiting + coalesce(d.waiting, 0), p.running + coalesce(d.running, 0),
		p.used + coalesce(d.used, 0), p.seen + coalesce(d.seen, 0), p.length + coalesce(d.length, 0),
		p.total + coalesce(d.total, 0), p.ended + coalesce(d.ended, 0)
	FROM c LEFT JOIN @.pool AS p ON true LEFT JOIN d ON d.pool = p.id`

// Usage implements fairlead.Accountant.
func (s *Store) Usage(ctx context.Context) (fairlead.Accounts, error) {
	out := fairlead.Accounts{Pools: map[string]fairlead.Account{}}
	err := s.query(ctx, usageText, func(r pgx.Rows) error {
		var now, half, reference int64
		var path *string
		var since, waiting, running, ended *int64
		var used, seen, length, total *float64
		if err := r.Scan(&now, &half, &reference, &path, &since, &waiting, &running, &used, &seen, &length, &total, &ended); err != nil {
			return err
		}
		clock := usage.NewClock(life.Instant(reference), time.Duration(half))
		out.HalfLife, out.AsOf = clock.HalfLife(), life.Instant(now)
		if path == nil {
			return nil // there are no pools
		}
		growth := life.Decay(clock, out.AsOf)
		a := fairlead.Account{
			Counters: fairlead.Counters{Waiting: *waiting, Running: *running},
			Used:     *used / growth, Seen: *seen / growth, Total: *total, Ended: *ended, Since: life.Instant(*since),
		}
		if *seen > 0 {
			a.Mean = *length / *seen
		}
		out.Pools[*path] = a
		return nil
	}, s.now())
	return out, err
}

// SetHalfLife implements fairlead.Accountant.
func (s *Store) SetHalfLife(ctx context.Context, halfLife time.Duration) error {
	return s.repeat(ctx, func(t *tx) error { return t.rebase(halfLife) })
}

// least is what is left of the weight of a mean, however long ago it was learned: without
// it the mean would be forgotten.
const least = `1e-100`

// rebase sets a new clock in force, whose reference is now, and expresses the amounts of
// all pools by it. Transactions under way go on with the old one.
func (t *tx) rebase(halfLife time.Duration) error {
	t.flushDeltas() // what this transaction has charged is in units of the clock that it began with
	t.deltas = nil
	t.alone()
	t.ask(`SELECT id, half_life, reference FROM @.clock ORDER BY id DESC LIMIT 1`, func(r pgx.Rows) error {
		var half, reference int64
		err := r.Scan(&t.clockID, &half, &reference)
		t.clock = usage.NewClock(life.Instant(reference), time.Duration(half))
		return err
	})
	if err := t.do(); err != nil {
		return err
	}
	next, amount, _ := t.clock.Rebase(t.now, halfLife)
	left := amount(1)
	if left < 1e-100 {
		left = 0 // what is left is nothing; PostgreSQL takes smaller numbers for errors
	}
	t.queue(`UPDATE @.clock SET factor = @.scaled(factor, $1)`, left)
	t.queue(`INSERT INTO @.clock (id, half_life, reference, days) SELECT $1 + 1, $2, $3, days FROM @.clock WHERE id = $1`,
		t.clockID, int64(next.HalfLife()), next.Reference().UnixNano())
	t.queue(`UPDATE @.pool SET used = @.scaled(used, $1), length = CASE seen WHEN 0 THEN 0 ELSE length / seen * greatest(@.scaled(seen, $1), `+least+`) END,
		seen = CASE seen WHEN 0 THEN 0 ELSE greatest(@.scaled(seen, $1), `+least+`) END`, left)
	t.clock = next
	t.clockID++
	return nil
}

// alone keeps others from rolling up or setting a clock until the transaction ends.
func (t *tx) alone() {
	t.queue(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "accounts "+t.s.prefix)
}

// Recount implements fairlead.Accountant.
func (s *Store) Recount(ctx context.Context) (map[string]fairlead.Counters, error) {
	out := map[string]fairlead.Counters{}
	err := s.query(ctx, `SELECT path, sum(j.waiting)::bigint, coalesce(sum(j.running), 0)::bigint FROM @.job AS j JOIN @.pool AS p ON p.id = j.pool GROUP BY path`,
		func(r pgx.Rows) error {
			var path string
			var c fairlead.Counters
			err := r.Scan(&path, &c.Waiting, &c.Running)
			out[path] = c
			return err
		})
	return out, err
}

// KeepDays implements fairlead.DayKeeper.
func (s *Store) KeepDays(ctx context.Context, n int) error {
	return s.repeat(ctx, func(t *tx) error {
		if t.days == n {
			return nil
		}
		t.alone()
		t.queue(`UPDATE @.clock SET days = $1`, n)
		t.queue(`DELETE FROM @.day WHERE day <= $1`, life.Day(t.now)-int64(n))
		t.queue(`DELETE FROM @.day_delta WHERE day <= $1`, life.Day(t.now)-int64(n))
		return nil
	})
}

// Days implements fairlead.DayKeeper.
func (s *Store) Days(ctx context.Context) (out []fairlead.DayUsage, err error) {
	err = s.query(ctx, `SELECT path, day, sum(d.used) FROM (SELECT * FROM @.day UNION ALL SELECT * FROM @.day_delta) AS d
		JOIN @.pool AS p ON p.id = d.pool GROUP BY path, day ORDER BY path COLLATE "C", day`, func(r pgx.Rows) error {
		var d fairlead.DayUsage
		var day int64
		err := r.Scan(&d.Pool, &day, &d.Used)
		d.Day = life.Midnight(day)
		out = append(out, d)
		return err
	})
	return out, err
}

// SetUsed implements fairlead.Charger.
func (s *Store) SetUsed(ctx context.Context, used map[string]float64) error {
	return s.write(ctx, func(t *tx) error {
		t.tell(fairlead.Change{What: fairlead.Changed, Reason: fairlead.UsageReset})
		t.alone()
		t.rollUp()
		for path, amount := range used {
			t.askPools(map[string]bool{path: true})
			if err := t.do(); err != nil {
				return err
			}
			pool, err := t.intern(path)
			if err != nil {
				return err
			}
			t.queue(`UPDATE @.pool SET used = $2 WHERE id = $1`, pool, amount*life.Decay(t.clock, t.now))
			t.queue(`DELETE FROM @.day WHERE pool = $1`, pool)
			if t.days > 0 && amount > 0 {
				t.bookDay(pool, life.Day(t.now), amount)
			}
		}
		return nil
	})
}

// tryAlone is alone, unless another one is.
func (t *tx) tryAlone() (free bool, err error) {
	t.askBool(`SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, &free, "accounts "+t.s.prefix)
	return free, t.do()
}

func (t *tx) askBool(sql string, into *bool, args ...any) {
	t.ask(sql, func(r pgx.Rows) error { return r.Scan(into) }, args...)
}
