package why

import (
	"math"
	"slices"
)

// formulaNames are the terms of the policies that can be replayed, in the order in
// which the terms of a standing are computed.
var formulaNames = map[string][]string{
	"fair":        {"joined", "served", "expected", "weight"},
	"fifo":        {"priority", "job"},
	"decay":       {"share", "used"},
	"fairtree":    {"served", "weight"},
	"drf":         {"used", "total", "weight"},
	"deficit":     {"received", "ideal", "capacity"},
	"load":        {"running", "target", "loans", "loan"},
	"multifactor": {"age", "fairshare", "size", "pool", "qos", "assoc", "tres", "site", "nice"},
}

// standing computes what a child is compared by, from its state.
func (r *replay) standing(at, kid int) standing {
	p, c := r.pools[at], r.pools[kid].PoolEvidence
	s := standing{kid: kid, number: c.Number, tie: -c.Weight}
	var values []float64
	switch p.Policy {
	case "fair":
		values = []float64{c.Own[0], r.service(c) - c.Own[1], float64(c.Flight * r.Growth), c.Weight}
	case "fifo":
		first := r.first(kid)
		priority := math.Floor(first / (1 << 48))
		values, s.tie = []float64{priority, first - priority*(1<<48)}, 0
	case "decay":
		values, s.fixed = r.decayed(p.PoolEvidence, c)
		s.drift[0] = c.Weight
	case "fairtree":
		values, s.tie = []float64{r.service(c), c.Weight}, 0
		if c.Divides {
			s.tie = 1
		}
	case "deficit":
		o := r.owed(kid, &s)
		values = []float64{o.Received, o.Ideal, o.Capacity}
	case "drf":
		used, total := r.dominant(c)
		values, s.tie = []float64{used, total, c.Weight}, c.Turn
	case "load":
		values = r.loaned(at, kid)
		s.fixed, s.drift[0] = c.Running-c.Target, c.Weight
	case "multifactor":
		values, s.tie = r.rankTerms(kid)
	}
	s.key = p.eval(values)
	if p.Order == LargestFirst {
		s.key = 0 - s.key
	}
	return s
}

// service is what a pool received: settled + (rate x tau - started), where a difference that is
// not more than rounding leaves is none.
func (r *replay) service(p *PoolEvidence) float64 {
	running := float64(p.Rate*r.Tau) - p.Started
	if math.Abs(running) <= 1e-14*p.Started {
		running = 0
	}
	return p.Settled + running
}

func (d *DaysUsed) sum() float64 { return d.Past + d.Today + float64(d.Slots*d.Seconds) }

// decayed are the terms of decay, and what a child received.
func (r *replay) decayed(parent, c *PoolEvidence) (terms []float64, amount float64) {
	fixed, capacity := r.service(c), math.Max(1, r.Capacity)
	whole := capacity * r.Seconds
	amount = fixed / r.Growth
	top, days := parent.Parent < 0, parent.ByDays && c.Days != nil
	switch {
	case !top && days && parent.Days != nil:
		amount, whole = c.Days.sum(), parent.Days.sum()
		fixed = amount
	case !top:
		amount, whole = fixed, r.service(parent)
	case days:
		amount, whole = c.Days.sum(), capacity*86400
		fixed = amount
	case r.MeanLife > 0:
		whole = capacity * r.MeanLife
	}
	share, used := 0.0, 0.0
	if parent.Weights != 0 {
		share = c.Weight / parent.Weights
	}
	if amount > 0 {
		used = amount / math.Max(whole, 1)
	}
	return []float64{share, used}, fixed
}

// owed is what a child is owed in the first of the resources that some task in it takes
// most of.
func (r *replay) owed(kid int, s *standing) Owed {
	m, owed := r.main(kid), r.pools[kid].Owed
	if m >= len(owed) {
		return Owed{Capacity: 1}
	}
	s.fixed, s.drift = owed[m].Fixed, [2]float64{owed[m].Drift, float64(m)}
	return owed[m]
}

func (r *replay) main(i int) int {
	main := math.MaxInt
	for k := range r.pools[i].Jobs {
		if j := &r.pools[i].Jobs[k]; j.startable() {
			main = min(main, j.Main)
		}
	}
	for _, k := range r.pools[i].kids {
		main = min(main, r.main(k))
	}
	return main
}

// dominant is what a pool holds of the resource of which it holds the largest part, and
// what there is of it.
func (r *replay) dominant(p *PoolEvidence) (used, total float64) {
	total = 1
	for i, n := range p.Holds {
		if i < len(r.Totals) && r.Totals[i] > 0 && float64(n)/r.Totals[i] > used/total {
			used, total = float64(n), r.Totals[i]
		}
	}
	return used, total
}

// loaned are the terms of load: a single slot is free.
func (r *replay) loaned(at, kid int) []float64 {
	p, c := r.pools[at], r.pools[kid]
	loans, loan := p.Loaned, 0.0
	var weights []float64
	for _, k := range p.kids {
		x := r.pools[k]
		loans += math.Max(0, x.Running-x.Target)
		if r.open(k) {
			weights = append(weights, x.Weight)
		}
	}
	loans++
	if open := exactly(weights); open > 0 {
		loan = loans * c.Weight / open
	}
	return []float64{c.Running, c.Target, loans, loan}
}

// exactly adds up without building up rounding (Neumaier, 1974), so that the order in
// which children came and went does not matter.
func exactly(xs []float64) float64 {
	slices.Sort(xs)
	high, low := 0.0, 0.0
	for _, x := range xs {
		t := high + x
		if math.Abs(high) >= math.Abs(x) {
			low += (high - t) + x
		} else {
			low += (x - t) + high
		}
		high = t
	}
	return high + low
}
