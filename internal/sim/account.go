package sim

import (
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
)

// account keeps, while a simulation goes on, what each user was due by the ideal fluid
// scheduler and what it had: see [usage.Fairness]. The fluid divides among the pools as
// the configuration says, and among the users of one pool equally.
//
// It is brought up to date in every second in which something happens. While all that is
// wanted fits, everybody is due what is wanted, and only what changed is looked at.
type account struct {
	w       *Workload
	origin  time.Time
	tree    *fluid
	fair    *usage.Fairness
	rates   []usage.Rate // by claim
	claims  []claim
	claimOf []int32 // by job
	users   []presence
	dirty   []int32 // claims that changed since the last settlement
	within  bool    // all that was wanted fitted, at the last settlement

	at      int64
	running int64 // processors
	waiting int64 // jobs
	wanted  int64 // processors that the waiting jobs ask for
	widths  widths
	sampler sampler
}

// claim is a user in a pool.
type claim struct {
	user, pool int32
	wants      int64 // processors of what runs and waits
	has        int64 // of what runs
	more       int64 // that it wants since the last settlement
	dirty      bool
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

func newAccount(w *Workload, cfg sched.Config, origin time.Time) (*account, error) {
	a := &account{w: w, origin: origin, within: true, at: w.Jobs[0].Submit, claimOf: make([]int32, len(w.Jobs)), widths: newWidths(w)}
	a.fair = usage.NewFairness(a.instant(a.at))
	known := map[[2]int32]int32{}
	for i := range w.Jobs {
		key := [2]int32{w.Jobs[i].User, w.Jobs[i].Pool}
		n, ok := known[key]
		if !ok {
			n = int32(len(a.claims))
			known[key] = n
			a.claims = append(a.claims, claim{user: key[0], pool: key[1]})
		}
		a.claimOf[i] = n
	}
	a.rates, a.users = make([]usage.Rate, len(a.claims)), make([]presence, len(w.Users))
	var err error
	a.tree, err = newFluid(w, cfg, a.claims)
	a.sampler.begin(a)
	return a, err
}

func (a *account) instant(second int64) time.Time {
	return a.origin.Add(time.Duration(second) * time.Second)
}

func (a *account) submit(job int) {
	procs := int64(a.w.Jobs[job].Procs)
	a.waiting++
	a.wanted += procs
	a.widths.add(job, procs)
	a.change(job, procs, 0)
}

func (a *account) start(job int) {
	procs := int64(a.w.Jobs[job].Procs)
	a.waiting--
	a.wanted -= procs
	a.widths.add(job, -procs)
	a.running += procs
	a.change(job, 0, procs)
}

// end counts a run out. A job that waits again is submitted again.
func (a *account) end(job int) {
	procs := int64(a.w.Jobs[job].Procs)
	a.running -= procs
	a.change(job, -procs, -procs)
}

func (a *account) change(job int, wants, has int64) {
	n := a.claimOf[job]
	c := &a.claims[n]
	c.wants += wants
	c.more += wants
	c.has += has
	if !c.dirty {
		c.dirty = true
		a.dirty = append(a.dirty, n)
	}
}

// settle adds up what was in force until now, and notes what is in force from now on.
func (a *account) settle(now int64) {
	a.sampler.until(a, now)
	a.tree.elapse(float64(now - a.at))
	a.at = now
	for _, n := range a.dirty {
		c := &a.claims[n]
		if c.more != 0 {
			a.users[c.user].change(now, c.more)
		}
		c.dirty, c.more = false, 0
		a.tree.want(n, float64(c.wants))
		a.rates[n] = usage.Rate{Ideal: float64(c.wants), Received: float64(c.has)}
	}
	a.dirty = a.dirty[:0]
	within := a.tree.fits()
	if !within || !a.within {
		a.tree.divide(a.rates)
	}
	a.within = within
	a.fair.Set(a.instant(now), a.rates, float64(a.idle()))
	a.sampler.note(a)
}

// idle is how many processors are idle although waiting jobs would fit.
func (a *account) idle() int64 {
	free := int64(a.w.Procs) - a.running
	if a.waiting == 0 || free <= 0 {
		return 0
	}
	return min(free, a.widths.upTo(free))
}

// close adds up to the end.
func (a *account) close(now int64) {
	a.sampler.until(a, now)
	a.tree.elapse(float64(now - a.at))
	a.at = now
	a.fair.Advance(a.instant(now))
	a.sampler.end(a)
	for i := range a.users {
		if u := &a.users[i]; u.wants > 0 {
			u.busy += now - u.since
		}
	}
}
