package cluster

// Holds is how many tasks that ask for this would run at once if nothing else did, and on
// how many nodes, over all that are known, in whatever state they are now. Like
// [Cluster.Ever] it keeps nothing of the question.
func (c *Cluster) Holds(a Amounts, must Constraint) (nodes int, tasks int64) {
	need := c.asked(a)
	for i := range c.classes.all {
		k := &c.classes.all[i]
		if k.nodes == 0 || !must.Allows(k.labels) {
			continue
		}
		each := int64(-1)
		for name, n := range need {
			if n > 0 {
				fit := max(0, c.has(k.capacity, name)) / n
				if each < 0 || fit < each {
					each = fit
				}
			}
		}
		if each > 0 {
			nodes += int(k.nodes)
			tasks += int64(k.nodes) * each
		}
	}
	return nodes, tasks
}
