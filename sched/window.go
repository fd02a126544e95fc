package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// During a window, nodes are kept for the tasks that ask for this window, or for no tasks at all. Under every
// backfill rule, a task has room only where its limit ends it before a window other than its own begins. The plan
// of the future takes windows into account itself. A job that asks for a window waits at a gate until the window
// begins, so that no other job waits behind it.

// nextEdge is when the next window begins or ends; zero if none does.
func (m *site) nextEdge() time.Time {
	if at := m.cluster.Windows().NextEdge(); at != cluster.Forever {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// mayUse reports whether the windows let a task start on nodes now and stay for as long as it may run.
func (m *site) mayUse(nodes []cluster.NodeID, key cluster.Key, limit time.Duration) bool {
	now := m.instantOf()
	for _, id := range nodes {
		if !m.cluster.Nodes()[id].OpenFor(m.cluster.Window(key), now, now+planned(limit)) {
			return false
		}
	}
	return true
}

// openSomewhere reports whether the windows leave open, for as long as a task may run, some node that would suit
// the task if no other task ran there.
func (m *site) openSomewhere(of ask) bool {
	if !m.cluster.Windows().Any() {
		return true
	}
	for id := range cluster.NodeID(len(m.cluster.Nodes())) {
		if m.cluster.Empty().Suits(id, of.key) && m.mayUse([]cluster.NodeID{id}, of.key, of.limit) {
			return true
		}
	}
	return false
}

// planned is the planned run time of a task with the time limit.
func planned(limit time.Duration) int64 {
	if limit <= 0 {
		return int64(NoLimit)
	}
	return int64(limit)
}
