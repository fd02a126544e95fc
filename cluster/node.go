package cluster

// NodeID numbers a node, in the order in which they joined.
type NodeID int32

// State says whether a node takes new tasks.
type State uint8

// The states of a node.
const (
	Up          State = iota // takes tasks
	Drain                    // finishes its running tasks and takes no new ones
	Down                     // not heard of
	Maintenance              // as Drain: somebody works on it, and it comes back
	Elsewhere                // takes tasks from another scheduler, and none from this one
)

func (s State) String() string {
	return [...]string{"up", "drain", "down", "maintenance", "elsewhere"}[s]
}

// Counts reports whether the node is part of what there is to divide, whoever does it.
func (s State) Counts() bool { return s == Up || s == Elsewhere }

// Node is one machine, or the slots of one process.
type Node struct {
	Name     string
	State    State // Maintenance also in a window for no task at all
	Labels   Labels
	Capacity Vector
	Free     Vector // below zero where the capacity shrank under running tasks
	Running  int    // tasks
	Server   string // that has it; "" is this one
	// Uncounted tells, by the number of the resource, whether nobody counts how much it has. It is nil for
	// nodes that are no bridges.
	Uncounted []bool

	said State // by the caller
	access

	class, group int32 // those it belongs to; group is -1 unless it takes tasks
	slot         int32 // its place in the group
}

// usable is how many units of the node could take tasks now.
func (n *Node) usable() int64 {
	if n.State != Up {
		return 0
	}
	return max(0, n.Free.at(0))
}

// effective is the state of a node, from the state that was set and its windows.
func (n *Node) effective(now int64) State {
	if !n.said.Counts() {
		return n.said
	}
	for _, x := range n.windows {
		if x.name == "" && x.from <= now && now < x.to {
			return Maintenance
		}
	}
	return n.said
}
