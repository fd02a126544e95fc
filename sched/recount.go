package sched

// Recount recomputes, from the running tasks and the waiting jobs, every sum that events maintain, and lists the
// sums that differ. It changes nothing. Its cost is proportional to the number of pools, tasks and sub-queues.
func (v View) Recount() []Difference {
	a := &recounter{s: v.s, pools: make([]tally, len(v.s.tree.pools))}
	a.countRuns()
	a.countSubQueues()
	a.addUp(int32(Root))
	a.comparePools()
	a.compareJobs()
	a.compareParked()
	a.compareLimits()
	a.compareLicenses()
	a.compareNodes()
	a.compareWeights()
	a.compareHoldings()
	a.compareClaims()
	return a.found
}
