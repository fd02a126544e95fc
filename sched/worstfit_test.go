package sched

import "github.com/fairlead/fairlead/cluster"

// worstFit is a backfill rule for tests: as [FirstFit], but each task goes to the node with the most free units.
type worstFit struct{ firstFit }

// AddWorstFit adds the rule, and returns its number.
func AddWorstFit() Backfill {
	rules = append(rules, worstFit{})
	return Backfill(len(rules) - 1)
}

func (worstFit) name() string { return "worst-fit" }

func (worstFit) node(h *gates, at subRef, _ int64) (best cluster.NodeID, fits bool) {
	most := int64(-1)
	for i, n := range h.site.cluster.Nodes() {
		if id := cluster.NodeID(i); h.site.cluster.Fits(id, h.queues.sub(at).key) && n.Free[0] > most {
			best, fits, most = id, true, n.Free[0]
		}
	}
	return best, fits
}
