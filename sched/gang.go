package sched

import "github.com/fairlead/fairlead/cluster"

// A gang is a job whose tasks start at the same moment or not at all (Ousterhout, "Scheduling techniques for
// concurrent systems", ICDCS 1982, calls it coscheduling). The number of tasks is part of the request, so that all
// jobs of a sub-queue are gangs of one size. A gang waits while one of its tasks runs or has not come back.

// gangOf is the number of tasks with a key that start at the same moment; 0 if each starts by itself.
func (m *site) gangOf(key cluster.Key) int32 {
	n, _ := m.cluster.Gang(key)
	if n < 2 {
		return 0
	}
	return int32(n)
}

// atOnce is the number of tasks with a key that start together: 1, or a whole gang.
func (m *site) atOnce(key cluster.Key) int64 {
	n, _ := m.cluster.Gang(key)
	return int64(n)
}
