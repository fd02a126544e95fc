package cluster

// Empty answers what would fit if nothing ran: whether a request is possible at all, and if
// not, why.
type Empty struct {
	resources *resources
	requests  *requests
	fleet     *fleet
}

// Empty returns the cluster as if nothing ran.
func (c *Cluster) Empty() Empty { return Empty{c.resources, &c.requests, &c.fleet} }

// Suits reports whether a task with the key would fit on the node, in the state in which
// it is, if nothing ran there and no window began.
func (e Empty) Suits(id NodeID, s Key) bool { return e.requests.all[s].suitsNode(&e.fleet.nodes[id]) }

// SuitsElsewhere reports of a node that takes tasks from another scheduler whether a task of
// the key would fit there if nothing ran, and whether it fits now.
func (e Empty) SuitsElsewhere(id NodeID, s Key) (ever, now bool) {
	n, req := &e.fleet.nodes[id], &e.requests.all[s]
	if n.State != Elsewhere || !req.must.Allows(n.Labels) {
		return false, false
	}
	return n.Capacity.Covers(req.need), n.Free.Covers(req.need) && n.opens(req.window, e.fleet.windows.now)
}

// Fit is how many tasks with the key a node has the capacity for, whatever its state and labels.
func (e Empty) Fit(id NodeID, s Key) int {
	return e.requests.all[s].perNode(e.fleet.nodes[id].Capacity)
}

// Could reports whether a task with the key, or the whole of a gang at one server, would fit on
// nodes that are not down, if nothing else ran there.
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

// Lack is a resource that a task asks more of than any node has.
type Lack struct {
	Resource      string
	Need, Largest int64
}

// Lacks returns the resources that the key asks more of than any node has that is not down.
// It is also empty if some node has enough of each, but no node of all of them, or if no node
// satisfies the label constraint.
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

// Ever reports whether a task that asks for this would fit on some node that is known, in
// whatever state it is now. Unlike [Cluster.Key] it keeps nothing of the question.
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

// Holds is how many tasks that ask for this would run at once at one server if nothing else did,
// and on how many nodes: the most of any, over all that are known, in whatever state they are
// now. Like [Empty.Ever] it keeps nothing of the question.
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

// GangRoom is how many tasks of a gang would fit at one server, if nothing ran on its nodes that
// take tasks, and how many fit now: the most at any.
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

// maxAtOne is the largest sum at one server of what its nodes have.
func (e Empty) maxAtOne(of func(n *Node) int) (most int) {
	sums := map[string]int{}
	for i := range e.fleet.nodes {
		n := &e.fleet.nodes[i]
		sums[n.Server] += of(n)
		most = max(most, sums[n.Server])
	}
	return most
}
