package cluster

// given is the log of nodes that became freer, took tasks again, or changed.
type given struct {
	first int // number of the first entry
	ids   []NodeID
}

// maxGiven is the largest length of the log. Requests that failed before its first entry search all nodes.
const maxGiven = 4096

func (l *given) end() int { return l.first + len(l.ids) }

// since returns the nodes from an entry on; false if the log no longer has them.
func (l *given) since(at int) ([]NodeID, bool) {
	if at < l.first {
		return nil, false
	}
	return l.ids[at-l.first:], true
}
