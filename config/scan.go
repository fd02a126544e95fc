package config

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// scanner reads the text of a file into nodes. It looks at every byte once, keeps
// nothing but the nodes, and stops at the first thing that it does not understand.
type scanner struct {
	text  string
	at    int // byte offset
	place     // of that byte
	depth int

	last   int   // line on which the value before ended
	indent place // of a tab in front of everything else on the line
	began  bool  // the document has content
	failed *Problem
}

// maxDepth bounds how deep values may be nested.
const maxDepth = 64

// scan reads a document. Its problem says where the text stops being one.
func scan(text string) (*node, *Problem) {
	s := &scanner{text: text, place: place{1, 1}}
	root := s.value(0, 0)
	if s.skip(); !s.end() {
		s.fail(s.place, "this does not belong to what stands above: its indentation fits no line there")
	}
	return root, s.failed
}

// fail notes the first problem and ends the scan: from here on everything is at its
// end.
func (s *scanner) fail(at place, format string, args ...any) {
	if s.failed == nil {
		s.failed = &Problem{Line: at.line, Col: at.col, Msg: fmt.Sprintf(format, args...)}
	}
	s.at = len(s.text)
}

func (s *scanner) end() bool { return s.at >= len(s.text) }

// ahead returns the byte that is n bytes further on; 0 is the end.
func (s *scanner) ahead(n int) byte {
	if s.at+n < len(s.text) {
		return s.text[s.at+n]
	}
	return 0
}

// advance goes n bytes on, which are on this line.
func (s *scanner) advance(n int) {
	n = min(n, len(s.text)-s.at) // a failure may have ended the scan
	s.col += utf8.RuneCountInString(s.text[s.at : s.at+n])
	s.at += n
}

// skip goes to the next thing that is neither blank nor a comment.
func (s *scanner) skip() {
	first := s.col == 1 // nothing but blanks so far on the line
	for !s.end() {
		switch c := s.ahead(0); {
		case c == ' ':
			s.advance(1)
		case c == '\t':
			if first {
				s.indent, first = s.place, false
			}
			s.advance(1)
		case c == '\n':
			s.at++
			s.place, first = place{s.line + 1, 1}, true
		case c == '#' && s.spaceBefore():
			s.advance(s.lineEnd())
		case s.col == 1 && s.marker() && !s.end():
			s.separator()
		default:
			return
		}
	}
}

// lineEnd is the number of bytes up to the end of the line.
func (s *scanner) lineEnd() int {
	if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
		return i
	}
	return len(s.text) - s.at
}

func (s *scanner) spaceBefore() bool {
	return s.at == 0 || blank(s.text[s.at-1])
}

// blank reports whether c separates one thing from the next; 0 is the end.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == 0 }

// marker reports whether the line is --- or ..., which begin and end documents.
func (s *scanner) marker() bool {
	rest := s.text[s.at:]
	return (strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "...")) && blank(s.ahead(3))
}

// separator passes over the beginning of the document. Another document is refused:
// nobody would know which one is in force.
func (s *scanner) separator() {
	rest, at := s.text[s.at:s.at+3], s.place
	s.advance(3)
	switch {
	case rest == "---" && !s.began:
		s.began = true
		s.ownLine()
	case rest == "...":
		s.began = true
		if s.skip(); !s.end() {
			s.fail(s.place, "the file goes on after the end of the document")
		}
	default:
		s.fail(at, "a second document begins here; the file has to be one")
	}
}

// ownLine refuses what follows on the same line.
func (s *scanner) ownLine() {
	s.last = s.line
	for s.ahead(0) == ' ' || s.ahead(0) == '\t' {
		s.advance(1)
	}
	if c := s.ahead(0); c != '\n' && !s.end() && !(c == '#' && s.spaceBefore()) {
		s.fail(s.place, "unexpected text after the value; put the whole value in quotes")
	}
}

// enter counts the depth, which leave takes back.
func (s *scanner) enter(at place) bool {
	if s.depth++; s.depth > maxDepth {
		s.fail(at, "values are nested deeper than %d levels", maxDepth)
		return false
	}
	return true
}

func (s *scanner) leave() { s.depth-- }
