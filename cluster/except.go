package cluster

import (
	"maps"
	"strconv"
)

// nodeLabel is a label whose value is the name of its node. A node gets it when a task is to
// be kept from it: all others stay alike. It is no name that a user could give to a label, or
// name in a constraint.
const nodeLabel = "@node"

// exceptions are the names of the nodes that some task is kept from.
type exceptions map[string]bool

// add reports whether the node is new among them.
func (e exceptions) add(node string) bool {
	if e[node] {
		return false
	}
	e[node] = true
	return true
}

// term is the term that keeps a task from nodes.
func (e exceptions) term(nodes []string) Term {
	t := alternative{Label: nodeLabel, Not: true}
	for _, name := range nodes {
		t.Values = append(t.Values, strconv.Quote(name)) // no name looks like two
	}
	return Term{t}
}

// label returns the labels of a node, with its name if tasks are kept from it.
func (e exceptions) label(name string, labels Labels) Labels {
	if !e[name] {
		return labels
	}
	with := Labels{nodeLabel: strconv.Quote(name)}
	maps.Copy(with, labels)
	return with
}

// Own are the labels that the node was given.
func (l Labels) Own() Labels {
	if _, more := l[nodeLabel]; !more {
		return l
	}
	own := maps.Clone(l)
	delete(own, nodeLabel)
	return own
}

// excepts are the nodes that a term keeps a task from; nil for a term on other labels.
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
