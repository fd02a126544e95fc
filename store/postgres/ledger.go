package postgres

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// delta holds a transaction's changes to the counters and the account of a pool.
type delta struct {
	waiting, running, ended   int64
	used, seen, length, total float64
}

// dayKey is a pool and a day.
type dayKey struct {
	pool int32
	day  int64
}

// ledger holds a transaction's changes to the counters and the accounts of pools.
type ledger struct {
	trip *trip

	clock   usage.Clock
	clockID int32
	days    int // number of days that are kept
	deltas  map[int32]*delta
	byDay   map[dayKey]float64
}

func (l *ledger) delta(pool int32) *delta {
	if l.deltas == nil {
		l.deltas = map[int32]*delta{}
	}
	d := l.deltas[pool]
	if d == nil {
		d = &delta{}
		l.deltas[pool] = d
	}
	return d
}

// count adds to the counters of a pool.
func (l *ledger) count(pool int32, waiting, running int) {
	d := l.delta(pool)
	d.waiting += int64(waiting)
	d.running += int64(running)
}

// charge records the service of an attempt that ends now, and removes its task from the counters. After a failover the
// database's clock may go back.
func (l *ledger) charge(pool int32, rate float64, started, ended time.Time, learn bool) error {
	if life.Outgrown(l.clock, l.trip.now) {
		if err := l.rebase(l.clock.HalfLife()); err != nil {
			return err
		}
	}
	if ended.Before(started) {
		started = ended
	}
	if l.days > 0 {
		oldest := life.Day(l.trip.now) - int64(l.days) + 1
		life.ByDay(rate, started, ended, oldest, func(day int64, amount float64) { l.bookDay(pool, day, amount) })
	}
	var a queue.Account
	life.Charge(&a, l.clock, rate, started, ended, learn)
	d := l.delta(pool)
	d.used += a.Used
	d.seen += a.Seen
	d.length += a.Mean * a.Seen
	d.total += a.Total
	d.ended += a.Ended
	d.running += a.Running
	return nil
}

func (l *ledger) bookDay(pool int32, day int64, amount float64) {
	if l.byDay == nil {
		l.byDay = map[dayKey]float64{}
	}
	l.byDay[dayKey{pool, day}] += amount
}

// deltaPools is the maximum number of pools in a row of delta, so that the row stays on its page.
const deltaPools = 24

func (l *ledger) flushDeltas() {
	pools := make([]int32, 0, len(l.deltas))
	for id, d := range l.deltas {
		if *d != (delta{}) {
			pools = append(pools, id)
		}
	}
	for some := range slices.Chunk(pools, deltaPools) {
		l.trip.queue(`INSERT INTO @.delta (clock, pools, waiting, running, used, seen, length, total, ended) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			l.clockID, some,
			column(l.deltas, some, func(d *delta) int64 { return d.waiting }),
			column(l.deltas, some, func(d *delta) int64 { return d.running }),
			column(l.deltas, some, func(d *delta) float64 { return d.used }),
			column(l.deltas, some, func(d *delta) float64 { return d.seen }),
			column(l.deltas, some, func(d *delta) float64 { return d.length }),
			column(l.deltas, some, func(d *delta) float64 { return d.total }),
			column(l.deltas, some, func(d *delta) int64 { return d.ended }))
	}
}

// column returns one kind of change for some pools, nil if all are zero.
func column[N int64 | float64](deltas map[int32]*delta, pools []int32, of func(*delta) N) []N {
	out := make([]N, len(pools))
	any := false
	for i, id := range pools {
		out[i] = of(deltas[id])
		any = any || out[i] != 0
	}
	if !any {
		return nil
	}
	return out
}

func (l *ledger) flushDays() {
	var pools []int32
	var days []int64
	var used []float64
	for k, amount := range l.byDay {
		pools, days, used = append(pools, k.pool), append(days, k.day), append(used, amount)
	}
	l.byDay = nil
	if len(pools) > 0 {
		l.trip.queue(`INSERT INTO @.day_delta (pool, day, used) SELECT * FROM unnest($1::int[], $2::bigint[], $3::float8[])`,
			pools, days, used)
	}
}

// least is the smallest weight of a mean, however old the mean is; without it the mean would be lost.
const least = `1e-100`

// rebase makes a new clock current, whose reference is now, and converts the amounts of all pools to it. Transactions
// in progress continue with the old one.
func (l *ledger) rebase(halfLife time.Duration) error {
	l.flushDeltas() // what this transaction has charged is in units of the clock that it began with
	l.deltas = nil
	l.alone()
	l.trip.ask(`SELECT id, half_life, reference FROM @.clock ORDER BY id DESC LIMIT 1`, func(r pgx.Rows) error {
		var half, reference int64
		err := r.Scan(&l.clockID, &half, &reference)
		l.clock = usage.NewClock(life.Instant(reference), time.Duration(half))
		return err
	})
	if err := l.trip.do(); err != nil {
		return err
	}
	next, amount, _ := l.clock.Rebase(l.trip.now, halfLife)
	left := amount(1)
	if left < 1e-100 {
		left = 0 // too small to matter; PostgreSQL treats smaller numbers as errors
	}
	l.trip.queue(`UPDATE @.clock SET factor = @.scaled(factor, $1)`, left)
	l.trip.queue(`INSERT INTO @.clock (id, half_life, reference, days) SELECT $1 + 1, $2, $3, days FROM @.clock WHERE id = $1`,
		l.clockID, int64(next.HalfLife()), next.Reference().UnixNano())
	l.trip.queue(`UPDATE @.pool SET used = @.scaled(used, $1), length = CASE seen WHEN 0 THEN 0 ELSE length / seen * greatest(@.scaled(seen, $1), `+least+`) END,
		seen = CASE seen WHEN 0 THEN 0 ELSE greatest(@.scaled(seen, $1), `+least+`) END`, left)
	l.clock = next
	l.clockID++
	return nil
}

// alone keeps others from rolling up or setting a clock until the transaction ends.
func (l *ledger) alone() {
	l.trip.queue(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "accounts "+l.trip.db.prefix)
}

// tryAlone is alone, but reports false at once if another holds the lock.
func (l *ledger) tryAlone() (free bool, err error) {
	l.trip.askBool(`SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, &free, "accounts "+l.trip.db.prefix)
	return free, l.trip.do()
}
