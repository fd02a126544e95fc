package life

import (
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/usage"
)

// outgrown is the growth from which on amounts are expressed anew, as of then. It is
// far from where numbers end, and rare: every 32 half-lives.
const outgrown = 1 << 32

// Outgrown reports whether the amounts of a clock have to be rebased before anything
// is charged now.
func Outgrown(clock usage.Clock, now time.Time) bool { return clock.At(now).Growth > outgrown }

// Decay is what amounts of a clock are divided by to be as of now. Where the machine's
// clock was set back to before their reference, they are as of the reference: nothing
// grows by waiting.
func Decay(clock usage.Clock, now time.Time) float64 { return max(1, clock.At(now).Growth) }

// Charge books the service of an attempt and counts its task out of the running.
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
