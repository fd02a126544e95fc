package sched

import "github.com/fairlead/fairlead/cluster"

// Capacity returns the amounts that the pools divide, and the free part of them. The result "endless" means that a
// bridge takes any number of units. Of the units of such a bridge, capacity counts only those of tasks that run behind
// it.
func (v View) Capacity() (capacity, free cluster.Vector, endless bool) {
	return divided(&v.s.site, &v.s.tree)
}

// divided is [View.Capacity]. Tasks that wait in the queues of bridges hold no units.
func divided(m *site, t *tree) (capacity, free cluster.Vector, endless bool) {
	capacity, free = m.cluster.Capacity()
	beyond := int64(0) // used units on nodes whose units nobody counts
	nodes := m.cluster.Nodes()
	for i := range nodes {
		n := &nodes[i]
		for r, uncounted := range n.Uncounted {
			if !uncounted || !n.State.Counts() {
				continue
			}
			left := max(0, n.Free[r])
			capacity[r], free[r] = capacity[r]-left, free[r]-left
			if r == 0 {
				beyond, endless = beyond+n.Capacity[r]-left, true
			}
		}
	}
	if endless {
		capacity[0] -= min(beyond, int64(t.queued[int32(Root)].units))
	}
	return capacity, free, endless
}
