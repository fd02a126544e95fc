package sched

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// LicenseView is the present state of a license.
type LicenseView struct {
	Name        string
	Total, Used int64
	Waiting     int64 // waiting tasks that ask for it
}

// RateView is the present state of a rate.
type RateView struct {
	Name    string
	Limit   Rate // zero: no longer configured, limits nothing
	Burst   int64
	Left    int64     // starts possible now
	Next    time.Time // when the next start is possible, if Left is 0
	Waiting int64     // waiting tasks that count under it
}

// Quotas returns the licenses and rates that are configured or requested, by name.
func (v View) Quotas() (licenses []LicenseView, rates []RateView) {
	held, limited := v.waitingForQuotas()
	for i, l := range v.s.quotas.licenses {
		if _, configured := v.s.site.cfg.Licenses[l.name]; configured || l.used > 0 || held[i] > 0 {
			licenses = append(licenses, LicenseView{l.name, l.total, l.used, held[i]})
		}
	}
	for i := range v.s.quotas.rates {
		r := &v.s.quotas.rates[i]
		if r.Limit.Count == 0 && limited[i] == 0 {
			continue
		}
		view := RateView{Name: r.name, Limit: r.Limit, Waiting: limited[i]}
		if r.Limit.Count > 0 {
			view.Burst, view.Left = r.Limit.burst(), max(0, r.Tokens(v.s.site.at))
			if view.Left == 0 {
				view.Next = r.next()
			}
		}
		rates = append(rates, view)
	}
	slices.SortFunc(licenses, func(a, b LicenseView) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(rates, func(a, b RateView) int { return cmp.Compare(a.Name, b.Name) })
	return licenses, rates
}

// waitingForQuotas counts the waiting tasks of each license and rate.
func (v View) waitingForQuotas() (licenses, rates []int64) {
	licenses, rates = make([]int64, len(v.s.quotas.licenses)), make([]int64, len(v.s.quotas.rates))
	for i := range v.s.queues.all {
		q := &v.s.queues.all[i]
		for k := range q.subs() {
			sub := q.sub(k)
			t := v.s.quotas.needsOf(sub.key)
			if t == nil {
				continue
			}
			for _, need := range t.licenses {
				licenses[need.license] += sub.tasks
			}
			for _, n := range t.rates {
				rates[n] += sub.tasks
			}
		}
	}
	return licenses, rates
}

// QuotaGates lists the gates of the licenses, rates and limited users of a key.
func (v GateView) QuotaGates(key cluster.Key) []why.Gate {
	kinds := v.s.gates.kinds
	return slices.Concat(kinds[byLicense-byMax].ofKey(key), kinds[byRate-byMax].ofKey(key), kinds[byUser-byMax].ofKey(key))
}
