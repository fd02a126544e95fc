package sched

// limit holds the minimum and the maximum of a pool, and the used amounts.
type limit struct {
	min, max   []int64 // by resource; -1 is none
	used       []int64
	wants      []int32 // of min: ready sub-queues below that ask for it; see tree.wanted
	tasks      int32   // tasks in and below the pool at the same time; 0 is no limit
	jobRunning int32   // tasks of one job at the same time; 0 is no limit
	parked     []subRef
	names      limitNames
}

// note notes a sub-queue that the maximum holds back.
func (l *limit) note(at subRef) { l.parked = append(l.parked, at) }

// below reports whether the pool has less than its minimum of a resource that its waiting tasks ask for. All tasks
// ask for the unit, resource 0.
func (l *limit) below() bool {
	for r, least := range l.min {
		if l.used[r] < least && (r == 0 || l.wants[r] > 0) {
			return true
		}
	}
	return false
}

// helped reports whether the request takes a resource that is below its minimum.
func (l *limit) helped(request []int64) bool {
	for r, least := range l.min {
		if l.used[r] < least && r < len(request) && request[r] > 0 {
			return true
		}
	}
	return false
}

// admits reports whether a number of tasks with the request stays within the maximum.
func (l *limit) admits(request []int64, tasks int64) bool {
	for r, n := range request {
		if r < len(l.max) && l.max[r] >= 0 && n > 0 && l.used[r]+tasks*n > l.max[r] {
			return false
		}
	}
	return true
}

// full reports whether no task, with whatever key, may start: each task takes at least one unit, which is resource
// 0.
func (l *limit) full(tasks int32) bool {
	return l.tasks > 0 && tasks >= l.tasks ||
		len(l.max) > 0 && l.max[0] >= 0 && l.used[0] >= l.max[0]
}

func (l *limit) add(request []int64, sign int64) {
	for len(l.used) < len(request) {
		l.used = append(l.used, 0)
	}
	for r, n := range request {
		l.used[r] += sign * n
	}
}

// limitNames are the names of the limits of a pool; see [Held].
type limitNames struct {
	tasks string
	max   []string // by resource
}
