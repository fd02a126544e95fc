package config

import "strings"

// place is a position in a file: a line, and a column that counts runes, both from 1. The zero value means no place.
type place struct{ line, col int }

type nodeKind uint8

const (
	nothing nodeKind = iota // a name without a value, or null
	scalar
	list
	mapping
)

// node is a value of a file with its place. Numbers, durations and the like stay text, because only the field that gets
// the value knows its meaning.
type node struct {
	place
	kind   nodeKind
	quoted bool    // the text was in quotes
	text   string  // of a scalar, without quotes
	keys   []*node // of a mapping, in the order of the file
	items  []*node // of a list, or the values of a mapping
	from   string  // the setting that it comes from; empty if it comes from the file
}

// get returns the value of a name, or nil. If a name is repeated, the first counts; the reader refuses the others.
func (n *node) get(name string) *node {
	if i := n.find(name); i >= 0 {
		return n.items[i]
	}
	return nil
}

// key returns the node of a name, for its place. It returns n itself if n lacks the name.
func (n *node) key(name string) *node {
	if i := n.find(name); i >= 0 {
		return n.keys[i]
	}
	return n
}

func (n *node) find(name string) int {
	if n != nil && n.kind == mapping {
		for i, k := range n.keys {
			if k.text == name {
				return i
			}
		}
	}
	return -1
}

// plain reports whether n is an unquoted scalar, which may be a number, true, false or null.
func (n *node) plain() bool { return n.kind == scalar && !n.quoted }

func word(text string) *node { return &node{kind: scalar, text: text} }

// textOf makes a text node, which is written in quotes where YAML needs them.
func textOf(text string) *node { return &node{kind: scalar, text: text, quoted: true} }

// set adds a name with its value to a mapping, unless the value is nil.
func (n *node) set(name string, value *node) {
	if value != nil {
		n.keys = append(n.keys, textOf(name))
		n.items = append(n.items, value)
	}
}

// colonInside reports whether n may be a name and a value without a space between them.
func (n *node) colonInside() bool { return !n.quoted && strings.Contains(n.text, ":") }
