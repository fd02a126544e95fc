package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// ledger holds the accounts of all pools.
type ledger struct {
	unit     string
	clock    usage.Clock
	accounts map[string]*queue.Account    // amounts in the clock's units
	kept     int                          // number of days that are kept
	days     map[string]map[int64]float64 // by pool and day
}

func (l *ledger) account(pool string) *queue.Account { return l.accountOf(pool, "") }

// accountOf returns the account of a pool, and creates a missing one for the user "maker".
func (l *ledger) accountOf(pool, maker string) *queue.Account {
	a := l.accounts[pool]
	if a == nil {
		a = &queue.Account{Since: time.Now(), Maker: maker}
		l.accounts[pool] = a
	}
	return a
}

// charge records the service of an attempt that ends, and removes its task from the counters.
func (l *ledger) charge(j *job, t *queue.Task, ended time.Time, learn bool, now time.Time) {
	if life.Outgrown(l.clock, now) {
		l.rebase(now, l.clock.HalfLife())
	}
	rate := life.Rate(t.Charge, j.Request, l.unit)
	from, to, learn := life.Served(t, ended, learn)
	if l.kept > 0 {
		oldest := life.Day(now) - int64(l.kept) + 1
		life.ByDay(rate, from, to, oldest, func(day int64, amount float64) { l.day(j.Pool, day, amount) })
	}
	life.Charge(l.account(j.Pool), l.clock, rate, from, to, learn)
}

// day adds an amount to the usage of a day.
func (l *ledger) day(pool string, day int64, amount float64) {
	if l.days == nil {
		l.days = map[string]map[int64]float64{}
	}
	if l.days[pool] == nil {
		l.days[pool] = map[int64]float64{}
	}
	l.days[pool][day] += amount
}

// daysKept returns the usage by days.
func (l *ledger) daysKept() (out []queue.DayUsage) {
	for pool, days := range l.days {
		for day, used := range days {
			out = append(out, queue.DayUsage{Pool: pool, Day: life.Midnight(day), Used: used})
		}
	}
	slices.SortFunc(out, func(a, b queue.DayUsage) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Day.Compare(b.Day)) })
	return out
}

// usage returns the accounts.
func (l *ledger) usage(now time.Time) queue.Accounts {
	out := queue.Accounts{HalfLife: l.clock.HalfLife(), AsOf: now, Pools: map[string]queue.Account{}}
	growth := life.Decay(l.clock, now)
	for path, a := range l.accounts {
		c := *a
		c.Used, c.Seen = c.Used/growth, c.Seen/growth
		out.Pools[path] = c
	}
	return out
}

// rebase converts the amounts of all pools to the present instant.
func (l *ledger) rebase(now time.Time, halfLife time.Duration) {
	var amount func(float64) float64
	l.clock, amount, _ = l.clock.Rebase(now, halfLife)
	for _, a := range l.accounts {
		a.Used, a.Seen = amount(a.Used), amount(a.Seen)
	}
}
