package sched

// fullness is how much must end in a pool at its maximum before a pool below it can start its next task. Only tasks
// of the full pool make room then.
type fullness struct {
	pool  int32   // the lowest such pool; -1: none
	over  []int64 // units of each resource
	tasks int64
}

// fullAbove finds the pools above a starving pool that are at their maximum for its next task. A task that ends in
// the lowest of them ends in all.
func fullAbove(w *Scheduler, starving int32, next ask) fullness {
	f := fullness{pool: w.tree.fullFor(starving, next.key)}
	if f.pool < 0 {
		return f
	}
	request, n := w.site.cluster.Request(next.key), w.site.atOnce(next.key)
	f.over = make([]int64, len(request))
	for at := f.pool; at >= 0; at = w.tree.pools[at].parent {
		l := w.tree.limits(at)
		if l == nil {
			continue
		}
		for r, each := range request {
			if r < len(l.max) && l.max[r] >= 0 && each > 0 {
				f.over[r] = max(f.over[r], l.used[r]+n*each-l.max[r])
			}
		}
		if l.tasks > 0 {
			f.tasks = max(f.tasks, int64(w.tree.pools[at].Tasks)+n-int64(l.tasks))
		}
	}
	return f
}

// left reports whether the pool is still at its maximum after some of its tasks have ended.
func (f *fullness) left(taken amounts, tasks int) bool {
	if f.pool < 0 {
		return false
	}
	for r, n := range f.over {
		if taken.of(f.pool, r) < n {
			return true
		}
	}
	return int64(tasks) < f.tasks
}
