package sim

import (
	"time"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

// account keeps, while a simulation goes on, the service that each user was due by the ideal fluid
// scheduler and the service that it had: see [usage.Fairness]. The fluid divides among the pools as
// the configuration says, and among the users of one pool equally.
//
// It is brought up to date in every second in which something happens. While the whole
// demand fits, everybody is due the own demand, and only changed users are looked at.
type account struct {
	w       *Workload
	origin  time.Time
	tree    *fluid
	fair    *usage.Fairness
	rates   []usage.Rate // by claim
	claims  []claim
	claimOf []int32 // by job
	users   []presence
	dirty   []int32       // claims that changed since the last settlement
	within  bool          // all that was wanted fitted, at the last settlement
	packing share.Packing // of all that is wanted
	served  served

	at      int64
	running int64 // processors
	waiting int64 // jobs
	wanted  int64 // processors that the waiting jobs ask for
	widths  widths
	sampler sampler
}

// presence is for how long a user wanted something.
type presence struct {
	wants       int64 // processors
	since, busy int64 // seconds
}

func (p *presence) change(now, procs int64) {
	if p.wants == 0 {
		p.since = now
	}
	if p.wants += procs; p.wants == 0 {
		p.busy += now - p.since
	}
}

func (a *account) instant(second int64) time.Time {
	return a.origin.Add(time.Duration(second) * time.Second)
}

// feasible reports whether a job fits on the machine, and below the maxima of its pools.
func (a *account) feasible(job int) bool {
	return int64(a.w.Jobs[job].Procs) <= a.claims[a.claimOf[job]].room
}

// idle is how many processors are idle although waiting jobs would fit.
func (a *account) idle() int64 {
	free := int64(a.w.Procs) - a.running
	if a.waiting == 0 || free <= 0 {
		return 0
	}
	return min(free, a.widths.upTo(free))
}

// sampler keeps running totals at regular instants. How long a simulation will be is not
// known before its end: when there are too many samples, every other is dropped.
type sampler struct {
	from, step, next int64
	at               int64               // up to which totals are added up
	inForce          [firstGroup]float64 // since then, per second
	totals           []float64
	rows             [][]float64
	names            []string
	group            []int32 // by claim
}

// The totals of a row: three of the whole, then two for each group.
const (
	busySeconds = iota
	queueSeconds
	wantedSeconds
	firstGroup
)
