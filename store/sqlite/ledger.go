package sqlite

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// account is the usage of a pool, in the units of the store's clock.
type account struct {
	used, mean, seen, total float64
	ended                   int64
}

// dayKey is a pool and a day.
type dayKey struct{ pool, day int64 }

// ledger holds a transaction's changes to the counters and the accounts of pools.
type ledger struct {
	before   map[int64]account // before the transaction
	kept     int               // number of days
	conn     *sqlite.Conn
	now      time.Time
	clock    usage.Clock
	rebased  bool // clock and accounts are as of now
	accounts map[int64]account
	counters map[int64]queue.Counters // changes
	days     map[dayKey]float64       // changes
}

// count adds to the counters of a pool.
func (l *ledger) count(pool int64, waiting, running int) {
	if l.counters == nil {
		l.counters = map[int64]queue.Counters{}
	}
	c := l.counters[pool]
	c.Waiting += int64(waiting)
	c.Running += int64(running)
	l.counters[pool] = c
}

// charge records the service of an attempt that ends.
func (l *ledger) charge(pool int64, rate float64, started, ended time.Time, learn bool) {
	if life.Outgrown(l.clock, l.now) {
		l.rebase(l.clock.HalfLife())
	}
	a := l.account(pool)
	if n := l.kept; n > 0 {
		life.ByDay(rate, started, ended, life.Day(l.now)-int64(n)+1, func(day int64, amount float64) { l.day(pool, day, amount) })
	}
	sum := queue.Account{Used: a.used, Mean: a.mean, Seen: a.seen, Total: a.total, Ended: a.ended}
	life.Charge(&sum, l.clock, rate, started, ended, learn)
	l.accounts[pool] = account{sum.Used, sum.Mean, sum.Seen, sum.Total, sum.Ended}
}

// account returns the usage of a pool with the changes of this transaction.
func (l *ledger) account(pool int64) account {
	if l.accounts == nil {
		l.accounts = map[int64]account{}
	}
	a, ok := l.accounts[pool]
	if !ok {
		a = l.before[pool]
	}
	return a
}

// day adds an amount to the usage of a day.
func (l *ledger) day(pool, day int64, amount float64) {
	if l.days == nil {
		l.days = map[dayKey]float64{}
	}
	l.days[dayKey{pool, day}] += amount
}

// flushDays writes the usage by days.
func (l *ledger) flushDays() error {
	for k, amount := range l.days {
		stmt := l.conn.Prep(`INSERT INTO day (pool, day, used) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET used = used + excluded.used`)
		stmt.BindInt64(1, k.pool)
		stmt.BindInt64(2, k.day)
		stmt.BindFloat(3, amount)
		if err := exec(stmt); err != nil {
			return err
		}
	}
	return nil
}

// rebase converts the amounts of all pools to the present instant.
func (l *ledger) rebase(halfLife time.Duration) {
	clock, amount, _ := l.clock.Rebase(l.now, halfLife)
	all := maps.Clone(l.before)
	maps.Copy(all, l.accounts)
	for id, a := range all {
		a.used, a.seen = amount(a.used), amount(a.seen)
		all[id] = a
	}
	l.clock, l.accounts, l.rebased = clock, all, true
}

func (l *ledger) save() error {
	return errors.Join(
		set(l.conn, "half_life", int64(l.clock.HalfLife())),
		set(l.conn, "reference", l.clock.Reference().UnixNano()),
	)
}

func set(conn *sqlite.Conn, key string, value int64) error {
	b := binder{stmt: conn.Prep(`INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)`)}
	return exec(b.text(key).text(fmt.Sprint(value)).stmt)
}
