package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Windows: nodes are kept for those who asked for them, or for nobody, for a time. Room is
// looked for only where a task that keeps its limit is gone before a window begins that is
// not its own, under every placement; the plan of the future leaves windows out by itself.
// A job that asks for a window waits for its beginning at a gate, so that nobody waits
// behind it.

// windowing holds the lines that wait for windows.
type windowing struct {
	parked []lineRef // lines that ask for a window that is not open
}

// nextEdge is when the next window begins or ends; zero if none does.
func (m *site) nextEdge() time.Time {
	if at := m.cluster.Windows().NextEdge(); at != cluster.Forever {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// mayUse reports whether a task may start on nodes now and stay for as long as it may run, as
// far as windows go.
func (m *site) mayUse(nodes []cluster.NodeID, key cluster.Key, limit time.Duration) bool {
	now := m.instantOf()
	for _, id := range nodes {
		if !m.cluster.Nodes()[id].OpenFor(m.cluster.Window(key), now, now+planned(limit)) {
			return false
		}
	}
	return true
}

// openSomewhere reports whether windows leave a node to a task for as long as it may run, if
// nothing else ran there.
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

// planned is how long a task with the time limit is planned to run.
func planned(limit time.Duration) int64 {
	if limit <= 0 {
		return int64(NoLimit)
	}
	return int64(limit)
}
