package life

import (
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/usage"
)

// outgrown is the growth from which amounts are rebased. It is far below overflow, and rarely reached: every 32
// half-lives.
const outgrown = 1 << 32

// Outgrown reports whether the amounts of a clock must be rebased before anything is charged at this instant.
func Outgrown(clock usage.Clock, now time.Time) bool { return clock.At(now).Growth > outgrown }

// Decay returns the divisor that converts amounts of a clock to the present instant. If the machine's clock was set
// back to before their reference, the amounts stay as of the reference: nothing grows by waiting.
func Decay(clock usage.Clock, now time.Time) float64 { return max(1, clock.At(now).Growth) }

// Charge adds the service of an attempt to an account and removes the attempt's task from the running ones.
func Charge(a *queue.Account, clock usage.Clock, rate float64, started, ended time.Time, learn bool) {
	from, to := clock.At(started), clock.At(ended)
	seconds := ended.Sub(started).Seconds()
	account := usage.Account{Settled: a.Used, Mean: a.Mean, Seen: a.Seen}
	account.Finish(rate, rate, from, to)
	if learn {
		account.Learn(rate, seconds, to)
	}
	a.Used, a.Mean, a.Seen = account.Settled, account.Mean, account.Seen
	a.Total += rate * seconds
	a.Ended++
	a.Running--
}
