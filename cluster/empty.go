package cluster

// Empty computes which tasks would fit if no task ran: whether a request is possible at all and, if not, why.
type Empty struct {
	resources *resources
	requests  *requests
	fleet     *fleet
}

// Empty returns a view of the cluster as if no task ran.
func (c *Cluster) Empty() Empty { return Empty{c.resources, &c.requests, &c.fleet} }

// Suits reports whether a task with the key would fit on the node, in its present state, if no task ran there and
// no window began.
func (e Empty) Suits(id NodeID, s Key) bool { return e.requests.all[s].suitsNode(&e.fleet.nodes[id]) }

// SuitsElsewhere applies to a node that takes its tasks from another scheduler. It reports whether a task with the
// key would fit if no task ran there, and whether it fits now.
func (e Empty) SuitsElsewhere(id NodeID, s Key) (ever, now bool) {
	n, req := &e.fleet.nodes[id], &e.requests.all[s]
	if n.State != Elsewhere || !req.must.Allows(n.Labels) {
		return false, false
	}
	return n.Capacity.Covers(req.need), n.Free.Covers(req.need) && n.opens(req.window, e.fleet.windows.now)
}

// Fit is the number of tasks with the key that the node's capacity allows, whatever its state and labels.
func (e Empty) Fit(id NodeID, s Key) int {
	return e.requests.all[s].perNode(e.fleet.nodes[id].Capacity)
}

// Could reports whether a task with the key, or a whole gang at one server, would fit on the nodes that are not
// down if no other task ran there.
func (e Empty) Could(s Key) bool {
	req := &e.requests.all[s]
	if req.gang > 0 && e.fleet.served {
		return int(req.gang) <= e.maxAtOne(func(n *Node) int {
			if n.State == Down || !req.must.Allows(n.Labels) {
				return 0
			}
			return req.perNode(n.Capacity)
		})
	}
	tasks := 0
	for i := range e.fleet.classes.all {
		if k := &e.fleet.classes.all[i]; k.nodes > 0 && k.state != Down && k.suits(req) {
			if tasks += k.nodes * req.perNode(k.capacity); tasks >= int(req.gang) {
				return true
			}
		}
	}
	return false
}

// Lack is a resource that no node has enough of for a task.
type Lack struct {
	Resource      string
	Need, Largest int64
}

// Lacks returns the resources that no node has enough of; nodes that are down do not count. The list may be empty
// although no node suits the task. Either each resource suffices on some node but no node has enough of all, or no
// node satisfies the label constraint.
func (e Empty) Lacks(s Key) (out []Lack) {
	for i, need := range e.requests.all[s].need {
		l := Lack{Resource: e.resources.names[i], Need: need}
		for j := range e.fleet.classes.all {
			if k := &e.fleet.classes.all[j]; k.nodes > 0 && k.state != Down {
				l.Largest = max(l.Largest, k.capacity.at(i))
			}
		}
		if l.Largest < need {
			out = append(out, l)
		}
	}
	return out
}

// Ever reports whether a task with this request would fit on some known node, whatever its state. Unlike
// [Cluster.Key] it does not store the request.
func (e Empty) Ever(a Amounts, must Constraint) bool {
	need := e.resources.asked(a)
	for i := range e.fleet.classes.all {
		k := &e.fleet.classes.all[i]
		if k.nodes == 0 || !must.Allows(k.labels) {
			continue
		}
		fits := true
		for name, n := range need {
			fits = fits && e.resources.has(k.capacity, name) >= n
		}
		if fits {
			return true
		}
	}
	return false
}

// Holds returns two maxima over the servers. The first is the number of suitable nodes at one server. The second
// is the number of tasks with this request that one server could run at the same time if no other task ran. All
// known nodes count, whatever their state. Like [Empty.Ever] it does not store the request.
func (e Empty) Holds(a Amounts, must Constraint) (nodes int, tasks int64) {
	need := e.resources.asked(a)
	if e.fleet.served {
		each := func(n *Node) int {
			if !must.Allows(n.Labels) {
				return 0
			}
			return int(e.resources.each(n.Capacity, need))
		}
		return e.maxAtOne(func(n *Node) int { return min(1, each(n)) }), int64(e.maxAtOne(each))
	}
	for i := range e.fleet.classes.all {
		k := &e.fleet.classes.all[i]
		if k.nodes == 0 || !must.Allows(k.labels) {
			continue
		}
		if each := e.resources.each(k.capacity, need); each > 0 {
			nodes += int(k.nodes)
			tasks += int64(k.nodes) * each
		}
	}
	return nodes, tasks
}

// GangRoom returns how many tasks of a gang fit at most at one server, on its nodes that take tasks: if no task
// ran there, and now.
func (e Empty) GangRoom(s Key) (ever, now int) {
	req := &e.requests.all[s]
	takes := func(n *Node) bool { return n.said.Counts() && req.must.Allows(n.Labels) }
	ever = e.maxAtOne(func(n *Node) int {
		if !takes(n) {
			return 0
		}
		return req.perNode(n.Capacity)
	})
	now = e.maxAtOne(func(n *Node) int {
		if !takes(n) || !n.State.Counts() || !n.opens(req.window, e.fleet.windows.now) {
			return 0
		}
		return req.perNode(n.Free)
	})
	return ever, now
}

// maxAtOne sums a number over the nodes of each server, and returns the largest sum.
func (e Empty) maxAtOne(of func(n *Node) int) (most int) {
	sums := map[string]int{}
	for i := range e.fleet.nodes {
		n := &e.fleet.nodes[i]
		sums[n.Server] += of(n)
		most = max(most, sums[n.Server])
	}
	return most
}
