package sched

import (
	"maps"
	"math"
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// tariff computes the charge of tasks from their requests.
type tariff struct {
	site *site

	capacity float64 // units that the cluster has
	prices   prices
	totals   []float64 // amount of each resource in the cluster
	totalled uint32    // version of totals
}

// prices are the charges of tasks that start now.
type prices struct {
	per      []float64 // for one of each resource
	of       []float64 // by key; 0 is not computed yet
	totalled uint32    // version of the totals that they were computed from
}

// least is the unit of all prices: a power of two, so that they add up without rounding.
const least = 1.0 / (1 << 20)

// reprice computes the prices of the resources under a new configuration.
func (c *tariff) reprice() {
	c.prices = prices{}
	for _, name := range slices.Sorted(maps.Keys(c.site.cfg.Charge.Per)) {
		r := c.site.cluster.Number(name)
		for len(c.prices.per) <= r {
			c.prices.per = append(c.prices.per, 0)
		}
		c.prices.per[r] = c.site.cfg.Charge.Per[name]
	}
	c.site.instant.Capacity = c.worth()
}

// price is the charge per second of a task with the key that starts now.
func (c *tariff) price(key cluster.Key) float64 {
	if c.site.cfg.Charge.IsZero() {
		return c.site.cluster.Width(key)
	}
	p := &c.prices
	if p.totalled != c.totalled {
		p.of, p.totalled = nil, c.totalled
	}
	for len(p.of) <= int(key) {
		p.of = append(p.of, 0)
	}
	if p.of[key] == 0 {
		p.of[key] = c.newPrice(key)
	}
	return p.of[key]
}

func (c *tariff) newPrice(key cluster.Key) float64 {
	request := c.site.cluster.Request(key)
	amounts := make([]float64, len(request))
	for r, n := range request {
		amounts[r] = float64(n)
	}
	price := c.sumUp(amounts)
	if c.site.cfg.Charge.Dominant {
		price = c.largestPart(request) * c.capacity
	}
	if price <= 0 { // none of its resources has a price
		return c.site.cluster.Width(key)
	}
	return max(least, math.Round(price/least)*least)
}

// largestPart is the largest part of a resource in the cluster that a request takes.
func (c *tariff) largestPart(request cluster.Vector) (part float64) {
	for r, n := range request[:min(len(request), len(c.totals))] {
		if c.totals[r] > 0 {
			part = max(part, float64(n)/c.totals[r])
		}
	}
	return part
}

// sumUp is the total price of the given amounts of the resources.
func (c *tariff) sumUp(amounts []float64) float64 {
	sum := 0.0
	for r, n := range amounts[:min(len(amounts), len(c.prices.per))] {
		part := c.prices.per[r] * n
		if c.site.cfg.Charge.Largest {
			sum = max(sum, part)
		} else {
			sum += part
		}
	}
	return sum
}

// worth is the charge per second of the whole cluster.
func (c *tariff) worth() float64 {
	if len(c.site.cfg.Charge.Per) == 0 {
		return c.capacity
	}
	return c.sumUp(c.totals)
}

// total records the amount of each resource, for policies that compare fractions of it. Their orders are updated at
// the next choice, because nodes come and go in large numbers.
func (c *tariff) total(capacity cluster.Vector) {
	totals := make([]float64, len(capacity))
	for r, n := range capacity {
		totals[r] = float64(n)
	}
	if !slices.Equal(totals, c.totals) {
		c.totals = totals
		c.totalled++
	}
}
