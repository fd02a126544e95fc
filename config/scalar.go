package config

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scalar reads a text, in quotes or not, and reports whether a colon follows that
// makes it a name. In a flow, between brackets, commas and brackets end it.
func (s *scanner) scalar(flow bool) (n *node, name bool) {
	n = &node{place: s.place, kind: scalar}
	s.began = true
	switch c := s.ahead(0); {
	case c == '"':
		n.quoted, n.text = true, s.doubleQuoted()
	case c == '\'':
		n.quoted, n.text = true, s.singleQuoted()
	case s.reserved(c):
		return n, false
	default:
		n.text = s.plainText(flow)
		if isNull(n.text) {
			n.kind = nothing
		}
	}
	s.last = s.line
	for s.ahead(0) == ' ' || s.ahead(0) == '\t' {
		s.advance(1)
	}
	return n, s.ahead(0) == ':' && s.colonEnds(n.quoted, flow)
}

func isNull(text string) bool {
	return text == "~" || text == "null" || text == "Null" || text == "NULL"
}

// colonEnds reports whether the colon here ends a name. In a flow it may touch the
// value if the name is in quotes, as in JSON.
func (s *scanner) colonEnds(quoted, flow bool) bool {
	c := s.ahead(1)
	return blank(c) || flow && (quoted || separates(c))
}

// separates reports whether c ends a text without quotes in a flow.
func separates(c byte) bool { return strings.IndexByte(",[]{}", c) >= 0 }

// plainText reads up to a colon, a comment or the end of the line.
func (s *scanner) plainText(flow bool) string {
	from, end := s.at, s.at
	for !s.end() {
		c := s.ahead(0)
		if c == '\n' || c == ':' && s.colonEnds(false, flow) || c == '#' && s.spaceBefore() ||
			flow && separates(c) {
			break
		}
		_, size := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += size
		s.col++
		if c != ' ' && c != '\t' {
			end = s.at
		}
	}
	return s.text[from:end]
}

// reserved refuses the characters that mean something in YAML which a configuration
// has no use for, or that begin nothing.
func (s *scanner) reserved(c byte) bool {
	next := s.ahead(1)
	switch {
	case c == '&' || c == '*':
		s.fail(s.place, "anchors (&) and aliases (*) are not read; put a value that begins with %c in quotes", c)
	case c == '!':
		s.fail(s.place, "tags (!) are not read; put a value that begins with ! in quotes")
	case c == '|' || c == '>':
		s.fail(s.place, "text over several lines (%c) is not read; write the value on one line, in quotes", c)
	case c == '?' && blank(next):
		s.fail(s.place, "names that begin with ? are not read")
	case c == '%' || c == '@' || c == '`':
		s.fail(s.place, "a value that begins with %c has to be in quotes", c)
	case separates(c):
		s.fail(s.place, "unexpected %c", c)
	case c == ':' && (blank(next) || separates(next)):
		s.fail(s.place, "a name is missing before the colon")
	case c == '#':
		s.fail(s.place, "a comment needs a space before its #")
	case c == '-' && (blank(next) || separates(next)):
		s.fail(s.place, "unexpected -; an entry of a list begins on a line of its own")
	default:
		return false
	}
	return true
}

// singleQuoted reads a text in which only the quote itself is special: it is doubled.
func (s *scanner) singleQuoted() string {
	at, line := s.place, s.text[s.at+1:s.at+s.lineEnd()]
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '\'' {
			if i+1 == len(line) || line[i+1] != '\'' {
				s.advance(i + 2)
				return b.String()
			}
			i++
		}
		b.WriteByte(line[i])
	}
	s.fail(at, "the text in quotes does not end on its line")
	return ""
}

// doubleQuoted reads a text with escapes, those of JSON among them.
func (s *scanner) doubleQuoted() string {
	at := s.place
	var b strings.Builder
	s.advance(1)
	for s.ahead(0) != '\n' && !s.end() {
		switch c := s.ahead(0); c {
		case '"':
			s.advance(1)
			return b.String()
		case '\\':
			s.escape(&b)
		default:
			i := strings.IndexAny(s.text[s.at:], "\"\\\n")
			if i < 0 {
				i = len(s.text) - s.at
			}
			b.WriteString(s.text[s.at : s.at+i])
			s.advance(i)
		}
	}
	s.fail(at, "the text in quotes does not end on its line")
	return ""
}

// escapes are the escapes of YAML that stand for one character each.
var escapes = map[byte]rune{
	'0': 0, 'a': '\a', 'b': '\b', 't': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', 'e': 0x1b, ' ': ' ', '"': '"',
	'/': '/', '\\': '\\', 'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029,
}

func (s *scanner) escape(b *strings.Builder) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	c := s.ahead(1)
	if r, ok := escapes[c]; ok {
		b.WriteRune(r)
		s.advance(2)
		return
	}
	if digits[c] == 0 {
		s.fail(s.place, "there is no escape \\%s; write \\\\ for a backslash", firstRune(s.text[s.at+1:]))
		return
	}
	r, ok := s.hex(2, digits[c])
	size := 2 + digits[c]
	if c == 'u' && utf16.IsSurrogate(r) && s.ahead(6) == '\\' && s.ahead(7) == 'u' { // as in JSON
		low, _ := s.hex(8, 4)
		r, size = utf16.DecodeRune(r, low), 12
		ok = r != utf8.RuneError
	}
	if !ok || !utf8.ValidRune(r) {
		s.fail(s.place, "\\%c has to be followed by %d hexadecimal digits that name a character", c, digits[c])
		return
	}
	b.WriteRune(r)
	s.advance(size)
}

// hex reads n hexadecimal digits that begin the given number of bytes further on.
func (s *scanner) hex(from, n int) (rune, bool) {
	if s.at+from+n > len(s.text) {
		return 0, false
	}
	v, err := strconv.ParseUint(s.text[s.at+from:s.at+from+n], 16, 31)
	return rune(v), err == nil
}

func firstRune(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return strings.TrimSpace(text[:size])
}
