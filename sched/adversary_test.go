package sched_test

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// plans are the plans of adversaries: each names the kind of work that an adversary submits all the time.
var plans = []string{"flood", "stagger", "lie", "fill", "exact", "burst", "mix", "own", "licensed", "any"}

// furtherPlans are the plans of TestStarvationIsSeen: these, too, and one more, which can starve jobs there.
var furtherPlans = append(slices.Clone(plans), "few", "few")

// act submits the victim when its time has come, and jobs of the adversary.
func (d *duel) act() {
	if d.came.IsZero() && !d.now.Before(d.comes) {
		d.came, d.victim = d.now, d.last+1
		d.submit(d.pools[0], d.want, d.longest, 0)
	}
	plan := d.plan
	if plan == "any" {
		plan = oneOf(d.rng, plans[:len(plans)-1]...)
	}
	narrow := sched.Request{Amounts: cluster.Amounts{"cpu": 1}}
	switch plan {
	case "flood": // narrow tasks of all lengths
		d.keep(6, func() { d.attack(narrow, d.some(), 0) })
	case "stagger": // tasks of the longest length, so that never two end together
		d.keep(6, func() { d.attack(narrow, d.longest-time.Duration(d.rng.IntN(1000))*time.Millisecond, 0) })
	case "lie": // users whose tasks are short until they are believed
		d.keep(6, func() {
			d.users++
			length := d.longest
			if d.users%8 < 4 {
				length = d.longest / 30
			}
			d.attack(narrow, length, 1+d.users/8)
		})
	case "fill": // exactly the free slots
		d.fill(d.longest)
	case "exact": // tasks that end when the room of the victim begins, or a moment later
		d.fill(d.untilRoom() + time.Duration(d.rng.IntN(3)-1)*time.Second)
	case "burst": // nothing for a while, and then many
		if d.burst <= 0 {
			d.burst = time.Duration(d.rng.Int64N(int64(2 * d.longest)))
			d.keep(12, func() { d.attack(narrow, d.some(), uint32(d.rng.IntN(3))) })
		}
	case "mix": // jobs of other requests, also as wide as the victim
		d.keep(6, func() { d.attack(d.request(), d.some(), uint32(d.rng.IntN(3))) })
	case "licensed": // tasks that take the licenses one by one
		if d.free || !d.owes() {
			narrow.Licenses = map[string]int64{"lic": min(1, d.licenses)}
		}
		d.keep(6, func() { d.attack(narrow, d.some(), 0) })
	case "few": // wide tasks that leave most of the machine idle, and narrow ones
		wide := sched.Request{Amounts: cluster.Amounts{"cpu": d.nodes[0]}}
		d.keep(2, func() { d.attack(wide, d.longest, 0) })
		d.keep(3, func() { d.attack(narrow, d.some(), 0) })
	case "own": // narrow jobs of the victim's own pool, and of others
		d.keep(6, func() {
			d.waiting++
			d.submit(d.pools[0], narrow, d.some(), 0)
			d.attack(narrow, d.some(), 0)
		})
	}
}

// keep submits until this number of jobs of the adversary wait.
func (d *duel) keep(n int, submit func()) {
	for range n {
		if d.waiting < n {
			submit()
		}
	}
}

// attack submits a job in a pool that is not the victim's.
func (d *duel) attack(ask sched.Request, length time.Duration, alike uint32) {
	d.waiting += max(1, ask.Gang)
	d.submit(d.pools[1+d.rng.IntN(len(d.pools)-1)], ask, length, alike)
}

// some draws a length.
func (d *duel) some() time.Duration { return time.Duration(1 + d.rng.Int64N(int64(d.longest))) }

// fill submits narrow jobs for all free slots, and one more.
func (d *duel) fill(length time.Duration) {
	_, free := d.Cluster().Capacity()
	for range max(0, int(free[0])+1-d.waiting) {
		ask := sched.Request{Amounts: cluster.Amounts{"cpu": 1}}
		if d.want.Licenses != nil && d.rng.IntN(2) == 0 {
			ask.Licenses = map[string]int64{"lic": 1}
		}
		d.attack(ask, length, 0)
	}
}

// untilRoom returns the time until the first planned start, for which room is kept.
func (d *duel) untilRoom() time.Duration {
	for r := range d.Reservations() {
		return r.From.Sub(d.now)
	}
	return d.longest
}

// request draws a request, which may be as wide as a node and may ask for licenses.
func (d *duel) request() sched.Request {
	ask := sched.Request{Amounts: cluster.Amounts{"cpu": 1 + d.rng.Int64N(max(1, d.nodes[0]))}}
	if d.rng.IntN(4) == 0 {
		ask.Gang = 2 + d.rng.IntN(3)
	}
	if d.licenses > 0 && d.rng.IntN(3) == 0 {
		ask.Licenses = map[string]int64{"lic": 1}
	}
	return ask
}
