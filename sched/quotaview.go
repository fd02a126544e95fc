package sched

import (
	"cmp"
	"fmt"
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
	for i := range v.s.lines.queues {
		q := &v.s.lines.queues[i]
		for k := range q.lines() {
			l := q.line(k)
			t := v.s.quotas.needsOf(l.key)
			if t == nil {
				continue
			}
			for _, need := range t.licenses {
				licenses[need.license] += l.tasks
			}
			for _, n := range t.rates {
				rates[n] += l.tasks
			}
		}
	}
	return licenses, rates
}

// QuotaGates lists the gates of the licenses and rates of a key.
func (v GateView) QuotaGates(key cluster.Key) []why.Gate {
	t := v.s.quotas.needsOf(key)
	if t == nil {
		return nil
	}
	var gates []why.Gate
	tasks := v.s.site.atOnce(key)
	for _, need := range t.licenses {
		need.n *= tasks
		gates = append(gates, v.licenseGate(need))
	}
	for _, n := range t.rates {
		if r := &v.s.quotas.rates[n]; r.Limit.Count > 0 {
			gates = append(gates, v.rateGate(r, r.Least(tasks)))
		}
	}
	return gates
}

func (v GateView) licenseGate(need need) why.Gate {
	l := &v.s.quotas.licenses[need.license]
	g := why.Gate{
		Name: "license " + l.name, Where: "licenses", Open: l.used+need.n <= l.total,
		Used: fmt.Sprint(l.used), Limit: fmt.Sprint(l.total),
	}
	switch {
	case need.n > l.total:
		g.Code, g.Text = why.LicenseNever, fmt.Sprintf("it asks for %d of the license %s, and there are %d", need.n, l.name, l.total)
		if _, configured := v.s.site.cfg.Licenses[l.name]; !configured {
			g.Text = fmt.Sprintf("the license %s is not configured any more", l.name)
		}
	case !g.Open:
		g.Code = why.GateLicense
		g.Text = fmt.Sprintf("license %s %d/%d used", l.name, l.used, l.total)
		if need.n > 1 {
			g.Text += fmt.Sprintf(", it asks for %d", need.n)
		}
	}
	return g
}

func (v GateView) rateGate(r *rate, least int64) why.Gate {
	left := max(0, r.Tokens(v.s.site.at))
	g := why.Gate{
		Name: "rate " + r.name, Where: "rates", Open: left >= least,
		Used: fmt.Sprintf("%d left", left), Limit: fmt.Sprintf("%v, burst %d", r.Limit, r.Limit.burst()),
	}
	if !g.Open {
		at := r.when(least)
		g.Code, g.Next = why.GateRate, &at
		g.Text = fmt.Sprintf("rate %s %v, burst %d", r.name, r.Limit, r.Limit.burst())
	}
	return g
}
