package sched

import (
	"math"
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
)

// What a pool can use is bounded by the widths of its tasks: of 100 units somebody with tasks of 64 can use 64, and
// is due no more. The simulator measures by the same [share.Packing].

// packings are the widths of the tasks of the pools that want more than the room that they may have. The root stands
// for all tasks.
type packings struct {
	f  *filling
	of []*share.Packing // by pool; nil: all that it wants fits

	capacity cluster.Vector
}

// pack bounds each pool by what the widths of its running and waiting tasks can use.
func (f *filling) pack(g *running) {
	p := packings{f: f}
	if !p.begin() {
		return
	}
	for i := range f.lines.queues {
		q := &f.lines.queues[i]
		for k := range q.lines() {
			if l := q.line(k); l.tasks > 0 && f.usable(l) {
				p.add(q.pool, l.key, l.tasks)
			}
		}
	}
	f.overLimits(func(l *line, pool int32, tasks int64) { p.add(pool, l.key, -tasks) })
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

// begin makes a packing for the root and for each pool with jobs of its own, where they want more than they may
// have. It reports whether there is one.
func (p *packings) begin() (some bool) {
	t := p.f.tree
	p.of = make([]*share.Packing, len(t.pools))
	p.capacity, _, _ = divided(p.f.site, t)
	for id := range p.of {
		if id != int(Root) && t.pools[id].inner >= 0 && !t.banded(int32(id)) {
			continue
		}
		if room := p.room(int32(id)); p.f.able[id] > float64(room) {
			x := share.NewPacking(room)
			p.of[id], some = &x, true
		}
	}
	return some
}

// room is the number of units that a pool can have at most: the capacity, or the least of the maxima above it.
func (p *packings) room(id int32) int64 {
	room := p.capacity[0]
	for ; id >= 0; id = p.f.tree.pools[id].parent {
		if l := p.f.tree.limits(id); l != nil && len(l.max) > 0 && l.max[0] >= 0 {
			room = min(room, l.max[0])
		}
	}
	return room
}

// add counts tasks of a pool in, or out: there, in the pool whose priority class it is, and in the root. The tasks of a
// gang take their room together.
func (p *packings) add(pool int32, key cluster.Key, tasks int64) {
	width, gang, room := int64(p.f.site.cluster.Width(key)), p.f.site.atOnce(key), p.room(pool)
	at := []int32{pool, p.f.tree.named(pool), int32(Root)}
	for _, id := range slices.Compact(at) {
		if x := p.of[id]; x != nil {
			addTasks(x, width*gang, tasks/gang, room)
			addTasks(x, width, tasks%gang, room)
		}
	}
}

// addTasks leaves out what could never run.
func addTasks(x *share.Packing, width, tasks, room int64) {
	if tasks != 0 && width > 0 && width <= room {
		x.Add(width, tasks)
	}
}

// poolKey is a pool and what tasks in it ask for.
type poolKey struct {
	pool int32
	key  cluster.Key
}

// runsByKey counts the running tasks.
func runsByKey(g *running) map[poolKey]int64 {
	n := map[poolKey]int64{}
	for i := range g.runs {
		if r := &g.runs[i]; r.used {
			n[poolKey{r.pool, r.key}]++
		}
	}
	return n
}
