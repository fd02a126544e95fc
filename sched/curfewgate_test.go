package sched

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// curfewGate is a kind of gate for tests: tasks that ask for more than a number of units start only in the first
// hours of a day.
type curfewGate struct {
	openKind
	h       *gates
	number  gate
	largest float64
	hours   time.Duration
	parked  []subRef
}

// AddCurfew adds a curfew to a scheduler.
func (s *Scheduler) AddCurfew(largest float64, hours time.Duration) {
	h := &s.gates
	c := &curfewGate{h: h, number: byMax + gate(len(h.kinds)), largest: largest, hours: hours}
	h.setKinds(append(h.kinds, c)...)
}

func (c *curfewGate) fork(h *gates) gateKind {
	f := *c
	f.h, f.parked = h, slices.Clone(c.parked)
	return &f
}

func (c *curfewGate) open(key cluster.Key) bool {
	at := c.h.site.at
	return c.h.site.cluster.Width(key) <= c.largest || at.Sub(at.Truncate(24*time.Hour)) < c.hours
}

func (c *curfewGate) holds(_ int32, at subRef) (pool int32, held bool) {
	if c.open(c.h.queues.sub(at).key) {
		return -1, false
	}
	c.parked = append(c.parked, at)
	return -1, true
}

func (c *curfewGate) noted() iter.Seq[subRef] { return slices.Values(c.parked) }

func (c *curfewGate) restart() { c.parked = nil }

func (c *curfewGate) passed() {
	if len(c.parked) > 0 && c.open(c.h.queues.sub(c.parked[0]).key) {
		c.h.returning(&c.parked, c.number)
	}
}

func (c *curfewGate) next() (at time.Time, may bool) {
	return c.h.site.at.Truncate(24 * time.Hour).Add(24 * time.Hour), len(c.parked) > 0
}

func (c *curfewGate) ofKey(key cluster.Key) []why.Gate {
	return []why.Gate{{Name: "curfew", Open: c.open(key), Used: fmt.Sprint(c.h.site.cluster.Width(key)),
		Limit: fmt.Sprint(c.largest)}}
}
