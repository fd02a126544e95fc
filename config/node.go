package config

import "strings"

// place is a position in a file: a line, and a column that counts runes, both from 1.
// The zero value is no place at all.
type place struct{ line, col int }

type nodeKind uint8

const (
	nothing nodeKind = iota // a name without a value, or null
	scalar
	list
	mapping
)

// node is a value of a file with its place. Numbers, durations and the like are still
// text: what a value means depends on the field that it is given to.
type node struct {
	place
	kind   nodeKind
	quoted bool    // the text stood in quotes
	text   string  // of a scalar, without quotes
	keys   []*node // of a mapping, in the order of the file
	items  []*node // of a list, or the values of a mapping
	from   string  // the setting that it is of, if it does not stand in a file
}

// get returns the value of a name, or nil. Of several the first one counts; the
// reader refuses the others.
func (n *node) get(name string) *node {
	if i := n.find(name); i >= 0 {
		return n.items[i]
	}
	return nil
}

// key returns the name as it stands in the file, for its place. It returns n itself
// when the file does not give the name.
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

// plain reports whether n is a text without quotes, so that it may be a number, true,
// false or null.
func (n *node) plain() bool { return n.kind == scalar && !n.quoted }

func word(text string) *node { return &node{kind: scalar, text: text} }

// textOf makes a node that is written in quotes where it has to be.
func textOf(text string) *node { return &node{kind: scalar, text: text, quoted: true} }

// set adds a name with its value to a mapping, unless the value is nil.
func (n *node) set(name string, value *node) {
	if value != nil {
		n.keys = append(n.keys, textOf(name))
		n.items = append(n.items, value)
	}
}

// colonInside reports whether a name and a value may have been meant.
func (n *node) colonInside() bool { return !n.quoted && strings.Contains(n.text, ":") }
