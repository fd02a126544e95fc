package cluster

import (
	"maps"
	"strconv"
)

// nodeLabel is a label whose value is the name of its node. A node gets it when a task is kept off that node; all
// other nodes stay equal. Users can neither set it nor write it in a constraint.
const nodeLabel = "@node"

// exceptions are the names of the nodes from which some task is excluded.
type exceptions map[string]bool

// add adds a node, and reports whether it is new.
func (e exceptions) add(node string) bool {
	if e[node] {
		return false
	}
	e[node] = true
	return true
}

// term is the term that keeps a task off the nodes.
func (e exceptions) term(nodes []string) Term {
	t := alternative{Label: nodeLabel, Not: true}
	for _, name := range nodes {
		t.Values = append(t.Values, strconv.Quote(name)) // quoted, so that no name looks like two
	}
	return Term{t}
}

// label returns the labels of a node, with nodeLabel if tasks are kept off it.
func (e exceptions) label(name string, labels Labels) Labels {
	if !e[name] {
		return labels
	}
	with := Labels{nodeLabel: strconv.Quote(name)}
	maps.Copy(with, labels)
	return with
}

// Own returns the labels of the node without nodeLabel.
func (l Labels) Own() Labels {
	if _, more := l[nodeLabel]; !more {
		return l
	}
	own := maps.Clone(l)
	delete(own, nodeLabel)
	return own
}

// excepts returns the nodes that a term keeps a task off; nil for a term about other labels.
func (t Term) excepts() (nodes []string) {
	if len(t) != 1 || t[0].Label != nodeLabel {
		return nil
	}
	for _, value := range t[0].Values {
		if name, err := strconv.Unquote(value); err == nil {
			nodes = append(nodes, name)
		}
	}
	return nodes
}
