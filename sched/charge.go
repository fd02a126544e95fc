package sched

import (
	"maps"
	"math"
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// Charge says what a running task is charged each second, which is what counts as usage.
// The zero value charges what it takes of the unit.
//
// What there is, and so what a resource is worth, may change while tasks run. A task is
// charged at one rate from its start to its end, that of its start: a node that joins changes
// nothing of the past, and what runs here, what a store books at the end, and what is known
// after a restart are the same number.
type Charge struct {
	// Per is the charge for one of each resource; others cost nothing. The unit is one of
	// them, as there is something of it in every task.
	Per map[string]float64
	// Largest has only the largest part count, instead of the sum.
	Largest bool
	// Dominant charges the largest part that a task takes of what the nodes have that take
	// tasks, as a part of what they have of the unit: a task that takes all there is of
	// something costs what the whole machine costs. Per does not count.
	Dominant bool
}

// IsZero reports whether tasks are charged what they take of the unit.
func (c Charge) IsZero() bool { return len(c.Per) == 0 && !c.Dominant }

// Equal reports whether two charge the same.
func (c Charge) Equal(d Charge) bool {
	return c.Dominant == d.Dominant && (c.Dominant || c.Largest == d.Largest && maps.Equal(c.Per, d.Per))
}

// prices are what tasks that start now are charged.
type prices struct {
	per      []float64 // for one of each resource
	of       []float64 // by shape; 0 is not known yet
	totalled uint32    // what there is when these were found
}

// least is the step of all prices: a power of two, so that they add up without rounding.
const least = 1.0 / (1 << 20)

// reprice finds what the resources cost under a new configuration.
func (s *Scheduler) reprice() {
	s.prices = prices{}
	for _, name := range slices.Sorted(maps.Keys(s.cfg.Charge.Per)) {
		r := s.cluster.Number(name)
		for len(s.prices.per) <= r {
			s.prices.per = append(s.prices.per, 0)
		}
		s.prices.per[r] = s.cfg.Charge.Per[name]
	}
	s.instant.Capacity = s.worth()
}

// price is what a task of the shape is charged each second if it starts now.
func (s *Scheduler) price(shape cluster.Shape) float64 {
	if s.cfg.Charge.IsZero() {
		return s.cluster.Width(shape)
	}
	p := &s.prices
	if p.totalled != s.totalled {
		p.of, p.totalled = nil, s.totalled
	}
	for len(p.of) <= int(shape) {
		p.of = append(p.of, 0)
	}
	if p.of[shape] == 0 {
		p.of[shape] = s.newPrice(shape)
	}
	return p.of[shape]
}

func (s *Scheduler) newPrice(shape cluster.Shape) float64 {
	request := s.cluster.Request(shape)
	amounts := make([]float64, len(request))
	for r, n := range request {
		amounts[r] = float64(n)
	}
	price := s.sumUp(amounts)
	if s.cfg.Charge.Dominant {
		part := 0.0
		for r, n := range amounts[:min(len(amounts), len(s.totals))] {
			if s.totals[r] > 0 {
				part = max(part, n/s.totals[r])
			}
		}
		price = part * s.capacity
	}
	if price <= 0 { // nothing is known of what it takes
		return s.cluster.Width(shape)
	}
	return max(least, math.Round(price/least)*least)
}

// sumUp is what amounts of the resources cost.
func (s *Scheduler) sumUp(amounts []float64) float64 {
	sum := 0.0
	for r, n := range amounts[:min(len(amounts), len(s.prices.per))] {
		part := s.prices.per[r] * n
		if s.cfg.Charge.Largest {
			sum = max(sum, part)
		} else {
			sum += part
		}
	}
	return sum
}

// worth is what all there is would be charged each second.
func (s *Scheduler) worth() float64 {
	if len(s.cfg.Charge.Per) == 0 {
		return s.capacity
	}
	return s.sumUp(s.totals)
}

// UsageUnit is what usage is counted in.
func (s *Scheduler) UsageUnit() string {
	if s.cfg.Charge.IsZero() {
		return s.cluster.Unit()
	}
	return "charge"
}

// Rate is what a running task is charged each second: nothing before it has begun.
func (s *Scheduler) Rate(id RunID) float64 { return s.run(id).rate() }

// Charged is what a running task is charged each second; 0 if that is what it takes of the
// unit.
func (s *Scheduler) Charged(id RunID) float64 {
	r := s.run(id)
	if r.price == s.cluster.Width(r.shape) {
		return 0
	}
	return r.price
}

// Price is what a task of the shape would be charged each second if it started now.
func (s *Scheduler) Price(shape cluster.Shape) float64 { return s.price(shape) }
