package sched

import (
	"fmt"
	"iter"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// rateGate holds jobs back while the starts of a rate are used up. The sub-queues are noted at the [rate].
type rateGate struct {
	openKind
	h      *gates
	parked int // number of noted sub-queues
}

func (g *rateGate) fork(h *gates) gateKind { return &rateGate{h: h, parked: g.parked} }

func (g *rateGate) holds(_ int32, at subRef) (pool int32, held bool) {
	key := g.h.queues.sub(at).key
	t := g.h.quotas.needsOf(key)
	if t == nil {
		return -1, false
	}
	tasks := g.h.site.atOnce(key)
	for _, n := range t.rates {
		if r := &g.h.quotas.rates[n]; r.Limit.Count > 0 && r.Tokens(g.h.site.at) < r.Least(tasks) {
			r.parked = append(r.parked, at)
			g.parked++
			return -1, true
		}
	}
	return -1, false
}

func (g *rateGate) sleeps() bool { return len(g.h.quotas.needs) == 0 }

func (g *rateGate) counted() {}

func (g *rateGate) noted() iter.Seq[subRef] {
	return func(yield func(subRef) bool) {
		for i := range g.h.quotas.rates {
			for _, at := range g.h.quotas.rates[i].parked {
				if !yield(at) {
					return
				}
			}
		}
	}
}

func (g *rateGate) restart() {
	for i := range g.h.quotas.rates {
		g.h.quotas.rates[i].parked = nil
	}
	g.parked = 0
}

func (g *rateGate) passed() {
	if g.parked == 0 {
		return
	}
	for i := range g.h.quotas.rates {
		r := &g.h.quotas.rates[i]
		if len(r.parked) > 0 && r.Tokens(g.h.site.at) >= g.leastOf(r) {
			g.parked -= len(r.parked)
			g.h.returning(&r.parked, byRate)
		}
	}
}

// leastOf is the smallest number of tokens that lets one of the sub-queues waiting for a rate continue.
func (g *rateGate) leastOf(r *rate) int64 {
	least := r.Limit.burst()
	for _, at := range r.parked {
		if least = min(least, r.Least(g.h.site.atOnce(g.h.queues.sub(at).key))); least == 1 {
			break
		}
	}
	return least
}

// next is the earliest instant at which a sub-queue waiting for a rate may continue.
func (g *rateGate) next() (next time.Time, may bool) {
	if g.parked == 0 {
		return next, false
	}
	for i := range g.h.quotas.rates {
		if r := &g.h.quotas.rates[i]; len(r.parked) > 0 {
			if t := r.when(g.leastOf(r)); next.IsZero() || t.Before(next) {
				next = t
			}
		}
	}
	return next, true
}

// uncountStart gives the rate tokens of a start back: the task never ran.
func (h *gates) uncountStart(t *quotaNeeds) {
	for _, n := range t.rates {
		h.quotas.rates[n].give()
	}
	h.passed()
}

func (g *rateGate) ofKey(key cluster.Key) []why.Gate {
	t := g.h.quotas.needsOf(key)
	if t == nil {
		return nil
	}
	var gates []why.Gate
	tasks := g.h.site.atOnce(key)
	for _, n := range t.rates {
		if r := &g.h.quotas.rates[n]; r.Limit.Count > 0 {
			gates = append(gates, g.of(r, r.Least(tasks)))
		}
	}
	return gates
}

func (g *rateGate) of(r *rate, least int64) why.Gate {
	left := max(0, r.Tokens(g.h.site.at))
	out := why.Gate{
		Name: "rate " + r.name, Where: "rates", Open: left >= least,
		Used: fmt.Sprintf("%d left", left), Limit: fmt.Sprintf("%v, burst %d", r.Limit, r.Limit.burst()),
	}
	if !out.Open {
		at := r.when(least)
		out.Code, out.Next = why.GateRate, &at
		out.Text = fmt.Sprintf("rate %s %v, burst %d", r.name, r.Limit, r.Limit.burst())
	}
	return out
}
