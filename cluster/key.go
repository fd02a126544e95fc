package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// Key is the scheduling key of a request, as a number: tasks that ask for the same have the same key.
type Key int32

// Ask is what tasks with a key have in common.
type Ask struct {
	Amounts Amounts
	Must    Constraint // on the labels of the node
	Mark    string     // tells requests apart that ask for the same
	// Gang is how many tasks start all at once, or not at all; 0 and 1: each for itself.
	Gang int
	// Spread has each task of a gang on a node of its own.
	Spread bool
	// Window is the name of the window in which they run; see [Window].
	Window string
}

// request is a request, with the results of earlier searches for room.
type request struct {
	need   Vector // of one task
	must   Constraint
	gang   int32 // tasks that start all at once; 0: each for itself
	spread bool  // each on a node of its own
	window string

	suits   []suit // the classes of nodes that could take it
	scarce  int    // the resource in which nodes are compared
	version uint32 // of the classes for which both hold
	failed  int    // it fitted nowhere before this place in the log of freed room; -1 is not known
	// failedBesides is the same for the nodes on which no room is kept.
	failedBesides int
	last          NodeID // where it was placed last
}

// suit is a class of nodes that could take a request if they were empty.
type suit struct {
	class int32
	extra int32 // resources that its nodes have and the request does not ask for
}

// suitsNode reports whether a task with the key would fit on the node, in the state in which it
// is, if nothing ran there and no window began.
func (req *request) suitsNode(n *Node) bool {
	return n.said == Up && n.Capacity.Covers(req.need) && req.must.Allows(n.Labels)
}

// perNode is the number of tasks that a node takes with the given free resources.
func (req *request) perNode(free Vector) int {
	n := free.holds(req.need)
	if req.spread {
		n = min(n, 1)
	}
	return n
}

// requests are all requests, by their keys.
type requests struct {
	all []request
	of  map[string]Key
}

// number returns the number of a request, which is kept if it is new. version is that of the
// classes of nodes.
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
