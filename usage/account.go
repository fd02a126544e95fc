package usage

import "math"

// Account is the service of one pool, or of anything else that tasks are charged
// to. Its amounts are in slot-seconds in the units of a [Clock]; a task as wide as
// w slots receives w slot-seconds each second, or as many as its resources are taken to
// be worth. The zero value is an empty account.
type Account struct {
	Settled float64 // service of the tasks that ended
	Running float64 // width of the tasks that run now, in slots
	Rate    float64 // what these are charged each second: their width, or what it is taken to be worth
	Started float64 // sum over the running tasks of rate x Tau(start)
	Mean    float64 // mean length of the tasks that ended, in seconds
	Seen    float64 // decayed width of the tasks that ended: the weight of Mean
}

// rounding bounds what sums of a few products differ by that are equal but for rounding.
const rounding = 1e-14

// Service is the service received up to now, running tasks included. Tasks that started this
// instant have received exactly nothing, without a rounding error: pools that have nothing tie.
func (a *Account) Service(now Now) float64 {
	running := float64(a.Rate*now.Tau) - a.Started // not fused into one operation, so that it is the same everywhere
	if math.Abs(running) <= rounding*a.Started {
		running = 0
	}
	return a.Settled + running
}

// Start counts a task in that is charged at a rate.
func (a *Account) Start(width, rate float64, at Now) {
	a.Running += width
	a.Rate += rate
	a.Started += rate * at.Tau
}

// Finish counts a task out and settles what it received. When the last task ends,
// rounding left over from earlier ones is dropped.
func (a *Account) Finish(width, rate float64, started, ended Now) {
	a.Settled += rate * (ended.Tau - started.Tau)
	a.Running -= width
	a.Rate -= rate
	a.Started -= rate * started.Tau
	if a.Running < 1e-9 {
		a.Running, a.Rate, a.Started = 0, 0, 0
	}
}

// Accrue counts in the charge of a running task, from its start on. A rate below 0 counts it out:
// the task still runs, and receives nothing.
func (a *Account) Accrue(rate float64, started Now) {
	a.Rate += rate
	a.Started += rate * started.Tau
	if a.Rate < 1e-9 {
		a.Rate, a.Started = 0, 0
	}
}

// Learn takes the length of a task that ended, in seconds, into the mean.
func (a *Account) Learn(rate, seconds float64, ended Now) {
	w := rate * ended.Growth
	a.Seen += w
	a.Mean += (seconds - a.Mean) * w / a.Seen
}

// Rebase expresses the account in the units of another clock; see [Clock.Rebase].
func (a *Account) Rebase(amount func(float64) float64, instant func(Now) Now) {
	a.Settled = amount(a.Settled)
	a.Seen = amount(a.Seen)
	if a.Rate > 0 {
		a.Started = a.Rate * instant(Now{Tau: a.Started / a.Rate}).Tau
	}
}
