package sim

import (
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

func newAccount(w *Workload, cfg sched.Config, origin time.Time) (*account, error) {
	a := &account{w: w, origin: origin, within: true, at: w.Jobs[0].Submit, claimOf: make([]int32, len(w.Jobs)),
		widths: newWidths(w)}
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
	if err != nil {
		return nil, err
	}
	a.packing = share.NewPacking(int64(w.Procs))
	for n := range a.claims {
		room := a.tree.roomOf(int32(n))
		a.claims[n].room, a.claims[n].packing = room, share.NewPacking(room)
	}
	a.served = newServed(a.at, len(w.Users))
	a.sampler.begin(a)
	return a, nil
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

// end ends the run of a job. If the job waits again, it must be submitted again.
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
	if width := int64(a.w.Jobs[job].Procs); wants != 0 && a.feasible(job) {
		c.packing.Add(width, wants/width)
		a.packing.Add(width, wants/width)
	}
	if !c.dirty {
		c.dirty = true
		a.dirty = append(a.dirty, n)
	}
}

// settle adds up the values that applied until now, and records the values that apply from now on.
func (a *account) settle(now int64) {
	a.until(now)
	for _, n := range a.dirty {
		c := &a.claims[n]
		if c.more != 0 {
			a.users[c.user].change(now, c.more)
		}
		c.dirty, c.more = false, 0
		able := float64(c.packing.Largest())
		a.tree.want(n, able)
		a.rates[n] = usage.Rate{Ideal: able, Received: float64(c.has)}
	}
	a.dirty = a.dirty[:0]
	a.tree.capacity = float64(a.packing.Largest())
	within := a.tree.fits()
	if !within || !a.within {
		a.tree.divide(a.rates)
	}
	a.within = within
	a.fair.Set(a.instant(now), a.rates, float64(a.idle()))
	a.sampler.note(a)
}

// until adds up the values that applied until a second, and ends the days up to then.
func (a *account) until(now int64) {
	for a.served.next <= now {
		a.elapse(a.served.next)
		a.fair.Advance(a.instant(a.at))
		a.served.turn(a.fair, a.claims)
	}
	a.elapse(now)
}

func (a *account) elapse(now int64) {
	a.sampler.until(a, now)
	a.tree.elapse(float64(now - a.at))
	a.at = now
}

// close adds up the values until the end.
func (a *account) close(now int64) {
	a.until(now)
	a.fair.Advance(a.instant(now))
	a.served.turn(a.fair, a.claims)
	a.sampler.end(a)
	for i := range a.users {
		if u := &a.users[i]; u.wants > 0 {
			u.busy += now - u.since
		}
	}
}
