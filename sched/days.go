package sched

import (
	"time"

	"github.com/fairlead/fairlead/usage"
)

// daysOf returns the service of a pool by days, nil if no policy counts it.
func (t *tree) daysOf(p *Pool) *usage.Days { return t.days.Of(p.Days) }

// keepDays starts to count usage by days in the pools that need it, and stops in the others.
func (t *tree) keepDays() {
	had := make([]*usage.Days, len(t.pools))
	for i := range t.pools {
		had[i], t.pools[i].Days = t.daysOf(&t.pools[i]), 0
	}
	t.days = nil
	for i := 1; i < len(t.pools); i++ {
		t.keepDaysOf(int32(i), had[i])
	}
}

// keepDaysOf lets a pool keep the service by days that it had, or starts to count, if a policy needs it.
func (t *tree) keepDaysOf(id int32, had *usage.Days) {
	p := &t.pools[id]
	daily := t.parentOf(id).as.daily
	if daily == nil && p.inner >= 0 { // its children are compared by its usage
		daily = t.inners[p.inner].as.daily
	}
	if daily == nil && t.labels[id].kind == priorityClass { // its leaf pool may get child pools with a policy by days
		if d, by := t.policyOf(p.parent).(Daily); by {
			if n, _ := d.Days(); n > 0 {
				daily = d
			}
		}
	}
	if daily == nil {
		p.Days = 0
		return
	}
	n, factor := daily.Days()
	if had == nil || !had.Counts(n, factor) {
		had = usage.NewDays(n, factor, t.site.instant.Unix)
		t.daysBegan = true
		had.Run(p.Rate, t.site.instant.Unix)
	}
	if p.Days == 0 {
		t.days = append(t.days, nil)
		p.Days = int32(len(t.days))
	}
	t.days[p.Days-1] = had
}

// rollDays advances all day counts when a day is over.
func (t *tree) rollDays() {
	for _, d := range t.days {
		d.Advance(t.site.instant.Unix)
	}
}

// daysKept returns the number of days that the policies count, 0 if none does. The result "seed" means that some pools
// began to count by days since the last call, and know no earlier days.
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

// clearDays drops the service of ended tasks on all days.
func (t *tree) clearDays() {
	for _, d := range t.days {
		d.Advance(t.site.instant.Unix)
		d.Clear()
	}
}

// renewalOf includes the next instant of a pool's policy in the next renewal.
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
