package config

import "strings"

// value reads what belongs to the name or dash at the column parent, and before which
// the byte after was read: ':', '-', or 0 for the whole document. What is indented
// no deeper than the name belongs to something else, and the value is nothing; only
// a list may be as far left as its name.
func (s *scanner) value(parent int, after byte) *node {
	line, none := s.line, &node{place: s.place}
	s.skip()
	same := s.line == line && after != 0
	switch {
	case s.end():
		return none
	case !same && s.col <= parent && !(after == ':' && s.col == parent && s.dash()):
		return none
	case !same && s.indent.line == s.line && !(after == 0 && s.bracket()):
		s.fail(s.indent, "a tab cannot indent; use spaces")
	case s.dash():
		if same && after == ':' {
			s.fail(s.place, "an entry of a list begins on a line of its own, below the name")
		}
		return s.list(s.col)
	case s.bracket():
		n := s.flow()
		s.ownLine()
		return n
	}
	n, name := s.scalar(false)
	switch {
	case !name:
		s.ownLine()
		return n
	case same && after == ':':
		s.fail(s.place, "a second colon on the line; put the value in quotes if the colon belongs to it")
		return n
	}
	return s.mapping(n)
}

// dash reports whether an entry of a list begins here.
func (s *scanner) dash() bool { return s.ahead(0) == '-' && blank(s.ahead(1)) }

// bracket reports whether a flow begins here.
func (s *scanner) bracket() bool { return s.ahead(0) == '{' || s.ahead(0) == '[' }

// list reads the entries whose dashes are in the column col.
func (s *scanner) list(col int) *node {
	n := &node{place: s.place, kind: list}
	s.began = true
	if !s.enter(s.place) {
		return n
	}
	defer s.leave()
	for !s.end() && s.col == col && s.dash() {
		s.advance(1)
		s.last = s.line
		n.items = append(n.items, s.value(col, '-'))
		s.skip()
		s.checkIndent(col)
	}
	return n
}

// mapping reads the names that are in the column of the first one, which was read up
// to its colon.
func (s *scanner) mapping(key *node) *node {
	n := &node{place: key.place, kind: mapping}
	if !s.enter(key.place) {
		return n
	}
	defer s.leave()
	for {
		if key.plain() && key.text == "<<" {
			s.fail(key.place, "merge keys (<<) are not read")
		}
		s.advance(1) // the colon
		n.keys = append(n.keys, nameOf(key))
		n.items = append(n.items, s.value(key.col, ':'))
		s.skip()
		s.checkIndent(key.col)
		if s.end() || s.col < key.col {
			return n
		}
		if s.dash() {
			s.fail(s.place, "an entry of a list where a name is expected")
			return n
		}
		next, name := s.scalar(false)
		if !name {
			s.fail(next.place, "%s", noName(next))
			return n
		}
		key = next
	}
}

// nameOf makes a name of what was read: null is a name like any other.
func nameOf(key *node) *node {
	key.kind = scalar
	return key
}

// checkIndent refuses a line that is indented deeper than the names or dashes above:
// their values have ended. It comes to the same as YAML's rule, because no value goes
// on over several lines.
func (s *scanner) checkIndent(col int) {
	switch {
	case s.end() || s.line == s.last:
	case s.indent.line == s.line:
		s.fail(s.indent, "a tab cannot indent; use spaces")
	case s.col > col:
		s.fail(s.place, "this line is indented too deep to go with those above that begin in column %d", col)
	}
}

// noName says what is wrong with a line that should hold a name and a value.
func noName(n *node) string {
	if n.colonInside() {
		return "a space is missing after the colon: expected name: value"
	}
	return "expected name: value"
}

// colonInside reports whether a name and a value may have been meant.
func (n *node) colonInside() bool { return !n.quoted && strings.Contains(n.text, ":") }
