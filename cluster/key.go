package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// Key is the number of a scheduling key: tasks with equal requests have the same key.
type Key int32

// Ask is the common request of all tasks with a key.
type Ask struct {
	Amounts Amounts
	Must    Constraint // on the labels of the node
	Mark    string     // distinguishes requests that are otherwise equal
	// Gang is how many tasks start at the same moment or not at all; with 0 or 1 each starts by itself.
	Gang int
	// Spread puts each task of a gang on a separate node.
	Spread bool
	// Window is the name of the window that the tasks run in; see [Window].
	Window string
}

// request is a request, with the results of earlier searches for room.
type request struct {
	// Each search reads these fields, so they come first, in few cache lines.
	need   Vector // of one task
	must   Constraint
	window string
	gang   int32  // tasks that start at the same moment; 0: each by itself
	last   NodeID // node of the last placement
	spread bool   // each on a separate node

	suits   []suit // the classes of nodes that could take it
	scarce  int    // nodes are compared by this resource
	version uint32 // of the classes when both were computed
	failed  int    // it had room on no node before this entry of the log; -1 is unknown
	// The field failedBesides is the same as failed, but only for the nodes without kept room.
	failedBesides int
}

// suit is a class of nodes that could take a request if they were empty.
type suit struct {
	class int32
	extra int32 // number of resources that its nodes have and the request does not ask for
}

// suitsNode reports whether a task with the key would fit on the node, in its present state, if no task ran there
// and no window began.
func (req *request) suitsNode(n *Node) bool {
	return n.said == Up && n.Capacity.Covers(req.need) && (len(req.must) == 0 || req.must.Allows(n.Labels))
}

// perNode is the number of tasks that fit into the free resources of a node.
func (req *request) perNode(free Vector) int {
	n := free.holds(req.need)
	if req.spread {
		n = min(n, 1)
	}
	return n
}

// requests are all requests, by key.
type requests struct {
	all []request
	of  map[string]Key
}

// number returns the key of a request, and stores the request if it is new. The argument version is the version
// of the classes of nodes.
func (s *requests) number(need Vector, a Ask, version uint32) Key {
	req := request{need: need, must: a.Must, window: a.Window, failed: -1, failedBesides: -1, version: version - 1}
	if a.Gang > 1 {
		req.gang, req.spread = int32(a.Gang), a.Spread
	}
	key := fmt.Sprint(req.need, req.gang, req.spread) + a.Must.String() + "\x00" + a.Mark + "\x00" + a.Window
	n, ok := s.of[key]
	if !ok {
		n = Key(len(s.all))
		s.all = append(s.all, req)
		s.of[key] = n
	}
	return n
}

func (s *requests) clone() requests { return requests{slices.Clone(s.all), maps.Clone(s.of)} }
