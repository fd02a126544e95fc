package cluster

// Nodes may belong to several servers, each of which places tasks on its own. A gang runs at
// one of them.

// SetServer says at which other server a node is; "" is this one.
func (c *Cluster) SetServer(id NodeID, name string) {
	c.nodes[id].Server = name
	c.served = c.served || name != ""
}

// mostAtOne is the largest sum at one server of what its nodes have.
func (c *Cluster) mostAtOne(of func(n *Node) int) (most int) {
	sums := map[string]int{}
	for i := range c.nodes {
		n := &c.nodes[i]
		sums[n.Server] += of(n)
		most = max(most, sums[n.Server])
	}
	return most
}

// GangRoom is how many tasks of a gang would fit at one server, if nothing ran on its nodes that
// take tasks, and how many fit now: the most at any.
func (c *Cluster) GangRoom(s Shape) (ever, now int) {
	sh := &c.shapes[s]
	takes := func(n *Node) bool { return n.said.Counts() && sh.must.Allows(n.Labels) }
	ever = c.mostAtOne(func(n *Node) int {
		if !takes(n) {
			return 0
		}
		return sh.perNode(n.Capacity)
	})
	now = c.mostAtOne(func(n *Node) int {
		if !takes(n) || !n.State.Counts() || !n.opens(sh.window, c.windows.now) {
			return 0
		}
		return sh.perNode(n.Free)
	})
	return ever, now
}
