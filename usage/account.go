package usage

import "math"

// Account is the service that one pool, or anything else that tasks are charged to, received. Amounts are in
// slot-seconds, in the units of a [Clock]. A task of width w receives w slot-seconds each second, or its charge if
// resources have charges. The zero value is an empty account.
type Account struct {
	Settled float64 // service of the tasks that ended
	Running float64 // width of the tasks that run now, in slots
	Rate    float64 // charge of the running tasks per second: their width, or the charge of their resources
	Started float64 // sum over the running tasks of rate x Tau(start)
	Mean    float64 // mean length of the tasks that ended, in seconds
	Seen    float64 // decayed width of the tasks that ended: the weight of Mean
}

// rounding is the relative difference up to which sums of a few products count as equal.
const rounding = 1e-14

// Service is the service received up to now, running tasks included. Tasks that started at this very instant have
// received exactly 0, without a rounding error, so that pools without service tie.
func (a *Account) Service(now Now) float64 {
	running := float64(a.Rate*now.Tau) - a.Started // not fused, so that all machines agree
	if math.Abs(running) <= rounding*a.Started {
		running = 0
	}
	return a.Settled + running
}

// Start adds a running task with the given charge rate.
func (a *Account) Start(width, rate float64, at Now) {
	a.Running += width
	a.Rate += rate
	a.Started += rate * at.Tau
}

// Finish removes a running task and settles the service that it received.
func (a *Account) Finish(width, rate float64, started, ended Now) {
	a.Settled += rate * (ended.Tau - started.Tau)
	a.Running -= width
	a.Rate -= rate
	a.Started -= rate * started.Tau
	if a.Running < 1e-9 {
		a.Running, a.Rate = 0, 0
	}
	a.dropRounding()
}

// Accrue adds to the charge rate of a running task, retroactively from its start. A negative rate removes the
// charge: the task still runs, but receives no service.
func (a *Account) Accrue(rate float64, started Now) {
	a.Rate += rate
	a.Started += rate * started.Tau
	a.dropRounding()
}

// dropRounding drops the rounding errors of earlier tasks as soon as no running task is charged. With a negative
// rate the service would fall, but orders by service rely on a service that only rises.
func (a *Account) dropRounding() {
	if a.Rate < 1e-9 {
		a.Rate, a.Started = 0, 0
	}
}

// Learn adds the length of a task that ended, in seconds, to the mean.
func (a *Account) Learn(rate, seconds float64, ended Now) {
	w := rate * ended.Growth
	a.Seen += w
	a.Mean += (seconds - a.Mean) * w / a.Seen
}

// Rebase converts the account to the units of another clock; see [Clock.Rebase].
func (a *Account) Rebase(amount func(float64) float64, instant func(Now) Now) {
	a.Settled = amount(a.Settled)
	a.Seen = amount(a.Seen)
	if a.Rate > 0 {
		a.Started = a.Rate * instant(Now{Tau: a.Started / a.Rate}).Tau
	}
}
