package cluster

// Holds is how many tasks that ask for this would run at once at one server if nothing else did,
// and on how many nodes: the most of any, over all that are known, in whatever state they are
// now. Like [Cluster.Ever] it keeps nothing of the question.
func (c *Cluster) Holds(a Amounts, must Constraint) (nodes int, tasks int64) {
	need := c.asked(a)
	if c.served {
		each := func(n *Node) int {
			if !must.Allows(n.Labels) {
				return 0
			}
			return int(c.each(n.Capacity, need))
		}
		return c.mostAtOne(func(n *Node) int { return min(1, each(n)) }), int64(c.mostAtOne(each))
	}
	for i := range c.classes.all {
		k := &c.classes.all[i]
		if k.nodes == 0 || !must.Allows(k.labels) {
			continue
		}
		if each := c.each(k.capacity, need); each > 0 {
			nodes += int(k.nodes)
			tasks += int64(k.nodes) * each
		}
	}
	return nodes, tasks
}

// each is how many times a node of a capacity has what is needed.
func (c *Cluster) each(capacity Vector, need Amounts) int64 {
	each := int64(-1)
	for name, n := range need {
		if n > 0 {
			fit := max(0, c.has(capacity, name)) / n
			if each < 0 || fit < each {
				each = fit
			}
		}
	}
	return max(0, each)
}
