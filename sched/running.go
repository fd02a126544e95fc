package sched

import (
	"iter"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
)

// running holds the running tasks.
type running struct {
	site   *site
	tariff *tariff
	tree   *tree
	orders *orders
	queues *queues

	runs    []run
	runFree freeList
	keys    keyCounts  // of the running tasks
	endless nodeCounts // of the running tasks without a time limit
	late    nodeCounts // of the endless tasks that have outlived their prediction
}

// count adds a task to the counts, or removes it.
func (g *running) count(r *run, by int32) {
	g.keys.add(r.key, by)
	if r.limit == 0 {
		g.endless.add(r.node, by)
		if by < 0 {
			g.setLate(r, false)
		}
	}
}

// setLate records whether a task without a time limit has outlived its prediction.
func (g *running) setLate(r *run, late bool) {
	if late == r.late || late && r.limit > 0 {
		return
	}
	if r.late = late; late {
		g.late.add(r.node, 1)
	} else {
		g.late.add(r.node, -1)
	}
}

// lateAmong reports whether such a task runs on one of the nodes.
func (g *running) lateAmong(nodes []cluster.NodeID) bool {
	return g.late.all > 0 && slices.ContainsFunc(nodes, func(id cluster.NodeID) bool { return g.late.of(id) > 0 })
}

// nodesOf names the node of a started task, or the nodes of its whole gang.
func (g *running) nodesOf(st Start) []string {
	r := g.run(st.Run)
	if r.begun < 0 || g.queues.begun[r.begun].gang == 0 {
		return []string{g.site.nodeName(st.Node)}
	}
	var nodes []cluster.NodeID
	for i := range g.runs {
		if x := &g.runs[i]; x.used && x.job == st.Job {
			nodes = append(nodes, x.node)
		}
	}
	return g.site.nodeNames(nodes)
}

func (g *running) run(id RunID) *run {
	r := &g.runs[uint32(id)]
	if !r.used || r.serial != uint32(id>>32) {
		panic("sched: task ended twice")
	}
	return r
}

// endlessAmong reports whether a task without a time limit runs on one of the nodes.
func (g *running) endlessAmong(nodes []cluster.NodeID) bool {
	return slices.ContainsFunc(nodes, func(id cluster.NodeID) bool { return g.endless.of(id) > 0 })
}

// endingBefore yields the running tasks without a time limit that are planned to end before an instant.
func (g *running) endingBefore(instant int64) iter.Seq[*run] {
	return func(yield func(*run) bool) {
		for i := range g.runs {
			if r := &g.runs[i]; r.used && r.limit == 0 && r.until < instant && !yield(r) {
				return
			}
		}
	}
}

// leavingUnits is the number of slots of leaving tasks.
func (g *running) leavingUnits() int64 {
	n := int64(0)
	for _, r := range g.leavingRuns() {
		n += int64(g.site.cluster.Width(r.key))
	}
	return n
}

// spared counts, in and below each pool, the units of running tasks that are protected from being stopped; nil if
// there are none.
func (g *running) spared(settings []share.Reclaim) []float64 {
	var kept []float64
	for i := range g.runs {
		r := &g.runs[i]
		if !r.used || r.leaving || !settings[g.tree.named(r.pool)].Protect {
			continue
		}
		if kept == nil {
			kept = make([]float64, len(g.tree.pools))
		}
		for id := r.pool; id >= 0; id = g.tree.pools[id].parent {
			kept[id] += g.site.cluster.Width(r.key)
		}
	}
	return kept
}

// leavingRuns yields the tasks that were told to end, with their indices.
func (g *running) leavingRuns() iter.Seq2[int, *run] {
	return func(yield func(int, *run) bool) {
		for i := range g.runs {
			if r := &g.runs[i]; r.used && r.leaving && !yield(i, r) {
				return
			}
		}
	}
}

// startOf is the start of a task for planning its end: a task that has not begun starts now at the earliest.
func (m *site) startOf(r *run) time.Time {
	if r.queued {
		return m.at
	}
	return r.started
}

// nodeCounts counts tasks by node.
type nodeCounts struct {
	all int
	on  []int32
}

func (c *nodeCounts) add(id cluster.NodeID, by int32) {
	for len(c.on) <= int(id) {
		c.on = append(c.on, 0)
	}
	c.on[id] += by
	c.all += int(by)
}

func (c *nodeCounts) of(id cluster.NodeID) int32 {
	if int(id) >= len(c.on) {
		return 0
	}
	return c.on[id]
}

func (c *nodeCounts) clone() nodeCounts { return nodeCounts{c.all, slices.Clone(c.on)} }
