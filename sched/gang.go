package sched

import "github.com/fairlead/fairlead/cluster"

// A gang is a job whose tasks start all at once, or not at all (Ousterhout, "Scheduling
// techniques for concurrent systems", ICDCS 1982, calls it coscheduling). How many they are
// is part of what they ask for, so that the jobs of a line are gangs of one size. A gang
// waits as long as a task of it runs, or is not back.

// gangOf is how many tasks with a key start all at once; 0 if each starts for itself.
func (m *site) gangOf(key cluster.Key) int32 {
	n, _ := m.cluster.Gang(key)
	if n < 2 {
		return 0
	}
	return int32(n)
}

// atOnce is how many tasks with a key start at once: 1, or all of a gang.
func (m *site) atOnce(key cluster.Key) int64 {
	n, _ := m.cluster.Gang(key)
	return int64(n)
}
