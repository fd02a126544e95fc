package config

// flow reads a value between brackets, which may go on over several lines, or one
// that stands between them. JSON is written in this way only.
func (s *scanner) flow() *node {
	s.began = true
	switch s.ahead(0) {
	case '{':
		return s.flowMapping()
	case '[':
		return s.flowList()
	}
	n, name := s.scalar(true)
	if name {
		s.fail(s.place, "unexpected colon; a comma is missing before, or the value has to be in quotes")
	}
	return n
}

// flowList reads [a, b].
func (s *scanner) flowList() *node {
	n := &node{place: s.place, kind: list}
	s.between(n.place, ']', func() { n.items = append(n.items, s.flow()) })
	return n
}

// flowMapping reads {name: value, ...}.
func (s *scanner) flowMapping() *node {
	n := &node{place: s.place, kind: mapping}
	s.between(n.place, '}', func() {
		key, name := s.scalar(true)
		if s.skip(); !name && !(key.quoted && s.ahead(0) == ':') {
			s.fail(s.place, "%s", noColon(key))
			return
		}
		s.advance(1)
		n.keys = append(n.keys, nameOf(key))
		none := &node{place: s.place}
		if s.skip(); s.ahead(0) == ',' || s.ahead(0) == '}' {
			n.items = append(n.items, none)
			return
		}
		n.items = append(n.items, s.flow())
	})
	return n
}

func noColon(key *node) string {
	if key.colonInside() {
		return noName(key)
	}
	return "expected a colon after " + clip(key.text) + "; a value that holds braces has to be in quotes"
}

// between calls item at the beginning of everything that stands between brackets and
// commas. A comma after the last one is allowed.
func (s *scanner) between(open place, closing byte, item func()) {
	if !s.enter(open) {
		return
	}
	defer s.leave()
	s.advance(1)
	for s.skip(); !s.end() && s.ahead(0) != closing; s.skip() {
		item()
		if s.skip(); s.ahead(0) == ',' {
			s.advance(1)
		} else if s.ahead(0) != closing && !s.end() {
			s.fail(s.place, "expected a comma, or the %c for line %d; a value that holds brackets has to be in quotes", closing, open.line)
		}
	}
	if s.end() {
		s.fail(open, "the bracket is not closed: %c is missing", closing)
		return
	}
	s.advance(1)
	s.last = s.line
}
