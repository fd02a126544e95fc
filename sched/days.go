package sched

import (
	"time"

	"github.com/fairlead/fairlead/usage"
)

// keepDays gives the pools that are compared by days what they need for it, from now
// on, and takes it from the others.
func (t *tree) keepDays() {
	for i := 1; i < len(t.pools); i++ {
		t.keepDaysOf(int32(i))
	}
}

func (t *tree) keepDaysOf(id int32) {
	p := &t.pools[id]
	daily := t.parentOf(id).as.daily
	if daily == nil && p.inner >= 0 { // those below it are compared by what it received
		daily = t.inners[p.inner].as.daily
	}
	if daily == nil && t.labels[id].kind == priorityClass { // its leaf may get pools below it that are
		if d, by := t.policyOf(p.parent).(Daily); by {
			if n, _ := d.Days(); n > 0 {
				daily = d
			}
		}
	}
	if daily == nil {
		p.Days = nil
		return
	}
	n, factor := daily.Days()
	if p.Days != nil && p.Days.Counts(n, factor) {
		return
	}
	p.Days = usage.NewDays(n, factor, t.site.instant.Unix)
	t.daysBegan = true
	p.Days.Run(p.Rate, t.site.instant.Unix)
}

// rollDays moves all days on when a day is over.
func (t *tree) rollDays() {
	for i := range t.pools {
		if d := t.pools[i].Days; d != nil {
			d.Advance(t.site.instant.Unix)
		}
	}
}

// daysKept is how many days the policies count, 0 if none does, and whether there are
// pools that began to be compared by days since the last call: they know nothing of the
// days before.
func (t *tree) daysKept() (n int, seed bool) {
	for i := range t.inners {
		if in := &t.inners[i]; in.as.daily != nil {
			days, _ := in.as.daily.Days()
			n = max(n, days)
		}
	}
	seed = t.daysBegan && n > 0
	t.daysBegan = false
	return n, seed
}

// clearDays forgets what tasks that ended received on all days.
func (t *tree) clearDays() {
	for i := range t.pools {
		if d := t.pools[i].Days; d != nil {
			d.Advance(t.site.instant.Unix)
			d.Clear()
		}
	}
}

// renewalOf takes the next instant of a pool's policy into account.
func (t *tree) renewalOf(in *inner) {
	var next time.Time
	switch {
	case in.as.renewer != nil:
		next = in.as.renewer.Renew(t.site.at)
	case in.as.ranker != nil:
		every := t.site.cfg.Multifactor.Recalculate
		next = t.site.at.Truncate(every).Add(every)
	}
	if at := t.renewal.at; !next.IsZero() && (at.IsZero() || next.Before(at)) {
		t.renewal.at = next
	}
}
