package sched

// Recount recounts, from the tasks that run and the jobs that wait, every sum that events keep
// up, and lists the sums that differ. It changes nothing, and takes time in the number of pools,
// tasks and lines.
func (v View) Recount() []Difference {
	a := &recounter{s: v.s, pools: make([]tally, len(v.s.tree.pools))}
	a.countRuns()
	a.countLines()
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
