package sched

import (
	"math"
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
)

// The units that a pool can use depend on the widths of its tasks. Of 100 units, a user with tasks of width 64 can
// use 64, and is entitled to no more. The simulator measures with the same [share.Packing].

// packings holds the task widths of the pools that demand more than the room that they may have. The root stands
// for all tasks.
type packings struct {
	f  *filling
	of []*share.Packing // by pool; nil: all of its demand fits
	// rooms is, by pool, the largest number of units of the pool: the capacity, or the smallest maximum of it and the
	// pools above.
	rooms []int64
}

// pack bounds each pool by the units that the widths of its running and waiting tasks can use.
func (f *filling) pack(g *running) {
	p := packings{f: f}
	if !p.begin() {
		return
	}
	for i := range f.queues.all {
		q := &f.queues.all[i]
		for k := range q.subs() {
			if sub := q.sub(k); sub.tasks > 0 && f.usable(sub) {
				p.add(q.pool, sub.key, sub.tasks)
			}
		}
	}
	f.overLimits(func(sub *subQueue, pool int32, tasks int64) { p.add(pool, sub.key, -tasks) })
	for at, n := range runsByKey(g) {
		p.add(at.pool, at.key, n)
	}
	f.packed = make([]float64, len(f.tree.pools))
	for id := range f.packed {
		f.packed[id] = math.Inf(1)
		if x := p.of[id]; x != nil {
			f.packed[id] = float64(x.Largest())
		}
	}
}

// begin creates a packing for the root and for each pool with jobs of its own, unless all of their demand fits the
// room that they may have. It reports whether it created any.
func (p *packings) begin() (some bool) {
	t := p.f.tree
	p.of, p.rooms = make([]*share.Packing, len(t.pools)), make([]int64, len(t.pools))
	capacity, _, _ := divided(p.f.site, t)
	p.measure(int32(Root), capacity[0])
	for id := range p.of {
		if id != int(Root) && t.pools[id].inner >= 0 && !t.banded(int32(id)) {
			continue
		}
		if room := p.rooms[id]; p.f.able[id] > float64(room) {
			x := share.NewPacking(room)
			p.of[id], some = &x, true
		}
	}
	return some
}

// measure computes the rooms of a pool and the pools below it. The room of the pool above is given.
func (p *packings) measure(id int32, room int64) {
	t := p.f.tree
	if l := t.limits(id); l != nil && len(l.max) > 0 && l.max[0] >= 0 {
		room = min(room, l.max[0])
	}
	p.rooms[id] = room
	if in := t.pools[id].inner; in >= 0 {
		for _, kid := range t.inners[in].kids {
			p.measure(kid, room)
		}
	}
}

// add counts tasks of a pool in or out: in the pool, in the leaf pool whose priority class it is, and in the root.
// The tasks of a gang take their room together.
func (p *packings) add(pool int32, key cluster.Key, tasks int64) {
	width, gang, room := int64(p.f.site.cluster.Width(key)), p.f.site.atOnce(key), p.rooms[pool]
	at := []int32{pool, p.f.tree.named(pool), int32(Root)}
	for _, id := range slices.Compact(at) {
		if x := p.of[id]; x != nil {
			addTasks(x, width*gang, tasks/gang, room)
			addTasks(x, width, tasks%gang, room)
		}
	}
}

// addTasks leaves out tasks that could never run.
func addTasks(x *share.Packing, width, tasks, room int64) {
	if tasks != 0 && width > 0 && width <= room {
		x.Add(width, tasks)
	}
}

// poolKey is a pool and a key of its tasks.
type poolKey struct {
	pool int32
	key  cluster.Key
}

// runsByKey counts the running tasks by pool and key.
func runsByKey(g *running) map[poolKey]int64 {
	n := map[poolKey]int64{}
	for i := range g.runs {
		if r := &g.runs[i]; r.used {
			n[poolKey{r.pool, r.key}]++
		}
	}
	return n
}
