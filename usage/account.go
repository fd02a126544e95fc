package usage

// Account is the service of one pool, or of anything else that tasks are charged
// to. Its amounts are in slot-seconds in the units of a [Clock]; a task as wide as
// w slots receives w slot-seconds each second. The zero value is an empty account.
type Account struct {
	Settled float64 // service of the tasks that ended
	Running float64 // width of the tasks that run now, in slots
	Started float64 // sum over the running tasks of width x Tau(start)
	Mean    float64 // mean length of the tasks that ended, in seconds
	Seen    float64 // decayed width of the tasks that ended: the weight of Mean
}

// Service is what has been received up to now, running tasks included.
func (a *Account) Service(now Now) float64 {
	return a.Settled + (a.Running*now.Tau - a.Started)
}

// Start counts a task in.
func (a *Account) Start(width float64, at Now) {
	a.Running += width
	a.Started += width * at.Tau
}

// Finish counts a task out and settles what it received. When the last task ends,
// rounding left over from earlier ones is dropped.
func (a *Account) Finish(width float64, started, ended Now) {
	a.Settled += width * (ended.Tau - started.Tau)
	a.Running -= width
	a.Started -= width * started.Tau
	if a.Running < 1e-9 {
		a.Running, a.Started = 0, 0
	}
}

// Learn takes the length of a task that ended, in seconds, into the mean.
func (a *Account) Learn(width, seconds float64, ended Now) {
	w := width * ended.Growth
	a.Seen += w
	a.Mean += (seconds - a.Mean) * w / a.Seen
}

// Rebase expresses the account in the units of another clock; see [Clock.Rebase].
func (a *Account) Rebase(amount func(float64) float64, instant func(Now) Now) {
	a.Settled = amount(a.Settled)
	a.Seen = amount(a.Seen)
	if a.Running > 0 {
		a.Started = a.Running * instant(Now{Tau: a.Started / a.Running}).Tau
	}
}
