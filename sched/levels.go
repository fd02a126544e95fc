package sched

import (
	"math"
	"slices"
)

// A policy such as fair remembers the service of each child since it joined, and the level at which it joined.
// These numbers do not follow from usage, so a scheduler that replaces another one must get them from it.
// Otherwise all pools would tie again, and a pool that has waited long would start over.

// Levels returns the memory of the [Carrier] policies, and how long jobs have been first without room, for
// [Memory.Know] of another scheduler.
func (m Memory) Levels() (all []Known) {
	t, now := &m.s.tree, m.s.site.now
	for i := range t.pools {
		id, p := int32(i), &t.pools[i]
		if t.labels[id].kind == priorityClass {
			continue // its service is that of its pool, and is unknown by itself after a restart
		}
		k := Known{Pool: t.Path(PoolID(id)), AsOf: m.s.site.at}
		if in := t.inAbove(id); in != nil && in.as.carrier != nil && p.Weight > 0 {
			k.Policy = in.policy.Formula().Policy
			k.Level, k.Served = in.as.carrier.Level(p, now)/now.Growth, p.Service(now)/now.Growth
			k.Waits = p.Waiting > 0
		}
		if p.inner >= 0 && t.inners[p.inner].as.carrier != nil {
			k.Clock = t.inners[p.inner].clock / now.Growth
		}
		if id == int32(Root) {
			k.Turns = m.turns()
		}
		if k.Level != 0 || k.Served != 0 || k.Clock != 0 || k.Waits || len(k.Turns) > 0 {
			all = append(all, k)
		}
	}
	return all
}

// setLevels restores the levels of pools. A pool that waits now but did not wait then joins like one that was
// away.
func (m Memory) setLevels(pools []Known) {
	t, now := &m.s.tree, m.s.site.now
	waited := map[int32]bool{}
	var changed []*inner
	for _, k := range pools {
		id, there := t.Lookup(k.Pool)
		if !there || k.AsOf.IsZero() {
			continue
		}
		p, growth := &t.pools[id], m.s.site.clock.At(k.AsOf).Growth
		if p.inner >= 0 && t.inners[p.inner].as.carrier != nil {
			t.inners[p.inner].clock = k.Clock * growth
		}
		in := t.inAbove(int32(id))
		if in == nil || in.as.carrier == nil || p.Weight <= 0 || in.policy.Formula().Policy != k.Policy {
			continue
		}
		since := math.Max(0, p.Service(now)-k.Served*growth)
		in.as.carrier.Carry(p, k.Level*growth+since/p.Weight, now)
		if waited[int32(id)] = k.Waits; !slices.Contains(changed, in) {
			changed = append(changed, in)
		}
	}
	for _, in := range changed {
		m.comeIn(in, waited)
	}
}

// comeIn raises the children of a pool that wait now, but did not before, to the level of the others.
func (m Memory) comeIn(in *inner, waited map[int32]bool) {
	t, now, least := &m.s.tree, m.s.site.now, math.Inf(1)
	for _, kid := range in.kids {
		if p := &t.pools[kid]; waited[kid] && p.seat.in {
			least = math.Min(least, in.as.carrier.Level(p, now))
		}
	}
	if math.IsInf(least, 1) {
		least = in.clock
	}
	for _, kid := range in.kids {
		p := &t.pools[kid]
		_, known := waited[kid]
		if late := !known || p.seat.in && !waited[kid]; late && in.as.carrier.Level(p, now) < least {
			in.as.carrier.Carry(p, least, now)
		}
		m.s.turns.settle(kid)
	}
}
