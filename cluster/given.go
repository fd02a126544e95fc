package cluster

// given is the log of nodes that became freer, or took tasks again, or changed.
type given struct {
	first int // number of the first entry
	ids   []NodeID
}

// maxGiven bounds the log. What failed before its first entry is looked for everywhere.
const maxGiven = 4096

func (l *given) end() int { return l.first + len(l.ids) }

// since are the nodes from an entry on; false if they are not known any more.
func (l *given) since(at int) ([]NodeID, bool) {
	if at < l.first {
		return nil, false
	}
	return l.ids[at-l.first:], true
}
