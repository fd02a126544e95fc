package cluster

// NodeID is the number of a node; nodes are numbered in the order in which they joined.
type NodeID int32

// State says whether a node takes new tasks.
type State uint8

// The states of a node.
const (
	Up          State = iota // takes tasks
	Drain                    // finishes its running tasks and takes no new ones
	Down                     // has not been heard from
	Maintenance              // like Drain: under repair, and coming back
	Elsewhere                // takes tasks from another scheduler only
)

func (s State) String() string {
	return [...]string{"up", "drain", "down", "maintenance", "elsewhere"}[s]
}

// Counts reports whether the capacity of the node counts, whichever scheduler divides it.
func (s State) Counts() bool { return s == Up || s == Elsewhere }

// Node is one machine, or the slots of one process.
type Node struct {
	Name     string
	State    State // also Maintenance during a maintenance window
	Labels   Labels
	Capacity Vector
	Free     Vector // the unit first; negative if the capacity shrank below the running tasks
	Running  int    // tasks
	Server   string // the server that it is connected to; "" is this one
	// Uncounted marks, by the number of the resource, amounts that nobody counts. It is nil for nodes that are not
	// bridges.
	Uncounted []bool

	said State // as set by the caller
	access

	class, group int32 // group is -1 unless the node takes tasks
	slot         int32 // index in the group
}

// usable is the number of free units on the node that tasks could take now.
func (n *Node) usable() int64 {
	if n.State != Up {
		return 0
	}
	return max(0, n.Free.at(0))
}

// effective is the state that follows from the set state and the windows.
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
