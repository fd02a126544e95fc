package sim

import (
	"time"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

// account sums up, during a simulation, the service that the ideal fluid scheduler would have given each user
// and the service that the user received: see [usage.Fairness]. The fluid scheduler divides the machine among
// the pools by the configuration, and among the users of one pool equally.
//
// It is updated in every second in which something happens. While the whole demand fits, every user is due
// its demand, and only changed users are updated.
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
	within  bool          // the whole demand fitted at the last settlement
	packing share.Packing // of the whole demand
	served  served

	at      int64
	running int64 // processors
	waiting int64 // jobs
	wanted  int64 // processors that the waiting jobs ask for
	widths  widths
	sampler sampler
}

// presence counts the seconds in which a user has running or waiting jobs.
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

// idle returns the number of processors that are idle although waiting jobs would fit.
func (a *account) idle() int64 {
	free := int64(a.w.Procs) - a.running
	if a.waiting == 0 || free <= 0 {
		return 0
	}
	return min(free, a.widths.upTo(free))
}

// sampler keeps running totals at regular instants. The length of a simulation is unknown before its end. So
// when there are too many samples, sampler drops every second one.
type sampler struct {
	from, step, next int64
	at               int64               // second up to which the totals are added up
	inForce          [firstGroup]float64 // values per second since then
	totals           []float64
	rows             [][]float64
	names            []string
	group            []int32 // by claim
}

// The totals of a row: three of the cluster, then two for each group.
const (
	busySeconds = iota
	queueSeconds
	wantedSeconds
	firstGroup
)
