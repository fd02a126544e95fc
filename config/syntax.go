package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

const (
	noTags = "tags (!) are not supported; put a value that begins with ! in quotes"
	noTab  = "a tab cannot indent; use spaces"

	tooDeep = "values are nested deeper than %d levels"
)

// fail notes the first problem.
func (d *document) fail(at place, format string, args ...any) {
	if d.failed == nil {
		d.failed = &Problem{Line: at.line, Col: at.col, Msg: fmt.Sprintf(format, args...)}
	}
}

// at converts a place of the library. The library puts the end of a text without a last newline on a line that does not
// exist.
func (d *document) at(line, col int) place {
	if last := len(d.lines); line > last {
		return place{last, utf8.RuneCountInString(d.lines[last-1]) + 1}
	}
	return place{line, col}
}

// syntax translates an error of the library from the terms of a scanner to those of a configuration. Its place is where
// the scanner stopped, or where the faulty construct began.
func (d *document) syntax(err error) *Problem {
	var e *yaml.LoadError
	if !errors.As(err, &e) || e.Mark.Line < 1 {
		return &Problem{Msg: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	at, msg := d.at(e.Mark.Line, e.Mark.Column), e.Message
	from := at
	if e.ContextMark.Line > 0 {
		from = d.at(e.ContextMark.Line, e.ContextMark.Column)
	}
	switch {
	case strings.HasSuffix(e.ContextMsg, "tag") || msg == "found undefined tag handle":
		at, msg = from, noTags
	case strings.HasPrefix(msg, "exceeded max depth"):
		msg = fmt.Sprintf(tooDeep, maxDepth)
	case strings.Contains(msg, "a tab character") || msg == "found character that cannot start any token" &&
		d.char(at, 0) == "\t":
		msg = noTab
	case msg == "found character that cannot start any token":
		msg = quote(d.char(at, 0))
	case msg == "mapping keys are not allowed in this context":
		msg = quote("?")
	case msg == "did not find expected alphabetic or numeric character",
		msg == "did not find expected comment or line break":
		at, msg = from, quote(d.char(from, 0)) // meant to be text, not an anchor, alias or text block
	case strings.HasPrefix(msg, "unknown anchor "):
		msg = "there is no anchor (&) of that name above; " + quote("*")
	case msg == "mapping values are not allowed in this context":
		at, msg = d.colon(at)
	case msg == "could not find expected ':'":
		at, msg = from, noName(word(d.line(from)))
	case msg == "block sequence entries are not allowed in this context":
		msg = "an entry of a list begins on a line of its own, below the name"
	case msg == "found unexpected end of stream", msg == "found unexpected document indicator":
		at, msg = from, "the text in quotes does not end"
	case msg == "found unknown escape character":
		msg = "there is no escape \\" + d.char(at, 1) + "; write \\\\ for a backslash"
	case msg == "did not find expected hexadecimal number", msg == "found invalid Unicode character escape code":
		msg = "the escapes \\x, \\u and \\U need 2, 4 and 8 hexadecimal digits that name a character"
	case msg == "found a comment without preceding whitespace":
		msg = "a comment needs a space before its #"
	case strings.HasPrefix(msg, "did not find expected ',' or "):
		at, msg = d.bracket(at, from, msg[len(msg)-2:len(msg)-1])
	case strings.HasPrefix(msg, "did not find expected "), msg == "found unexpected content after document-end marker":
		at, msg = d.unexpected(at)
	}
	return &Problem{Line: at.line, Col: at.col, Msg: msg}
}

func quote(char string) string { return "a value that begins with " + char + " has to be in quotes" }

// line returns the line of a place, without surrounding space.
func (d *document) line(at place) string {
	return strings.TrimSpace(d.lines[at.line-1])
}

// char returns the character n columns after a place, or "" at the end of the line.
func (d *document) char(at place, n int) string {
	rest := d.lines[at.line-1]
	for n += at.col - 1; n > 0 && rest != ""; n-- {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	_, size := utf8.DecodeRuneInString(rest)
	return rest[:size]
}

// start returns where the text of a line begins.
func (d *document) start(line int) place {
	text := d.lines[line-1]
	return place{line, 1 + utf8.RuneCountInString(text[:len(text)-len(strings.TrimLeft(text, " \t"))])}
}

// endOf reports whether a place is behind the end of the text.
func (d *document) endOf(at place) bool { return at.line == len(d.lines) && d.char(at, 0) == "" }

// nameEnds matches a colon that ends a name.
var nameEnds = regexp.MustCompile(`:(\s|$)`)

// colon explains a misplaced colon: a second one on its line, or a colon in a line that continues the text above.
func (d *document) colon(at place) (place, string) {
	before := string([]rune(d.lines[at.line-1])[:at.col-1])
	if nameEnds.MatchString(before) {
		return at, "a second colon on the line; put the value in quotes if the colon belongs to it"
	}
	return d.explainMisplaced(at.line)
}

// explainMisplaced explains why a line does not fit the lines above, or blames the line above if that lacks a name.
func (d *document) explainMisplaced(line int) (place, string) {
	for i := line - 1; i > 0; i-- {
		above := d.line(place{line: i})
		if above == "" || above[0] == '#' {
			continue
		}
		if !strings.ContainsAny(above[:1], "-[{") && !nameEnds.MatchString(above) {
			return d.start(i), noName(word(above))
		}
		break
	}
	return d.start(line), "this line does not fit the lines above; check its indentation"
}

// bracket explains an unclosed bracket, or a value that contains a bracket.
func (d *document) bracket(at, open place, closing string) (place, string) {
	if d.endOf(at) {
		return open, "the bracket is not closed: " + closing + " is missing"
	}
	const quotes = "; a value that holds brackets or colons has to be in quotes"
	if at.line > open.line {
		return open, "the bracket is not closed before line " + strconv.Itoa(at.line) + ": a comma or " + closing +
			" is missing" + quotes
	}
	return at, "expected a comma or " + closing + quotes
}

// unexpected explains a text at a place where something else is expected.
func (d *document) unexpected(at place) (place, string) {
	switch char := d.char(at, 0); {
	case d.endOf(at):
		return at, "the file ends, but a bracket is not closed"
	case char == ",":
		return at, "unexpected comma"
	case char == "]" || char == "}":
		return at, "unexpected " + char + "; a value that holds brackets has to be in quotes"
	case at != d.start(at.line):
		return at, "unexpected text after the value; put the whole value in quotes"
	case char == "-":
		return at, "an entry of a list where a name is expected"
	}
	return d.explainMisplaced(at.line)
}

// noName returns the error for a text that should be a name and a value.
func noName(n *node) string {
	if n.colonInside() {
		return "a space is missing after the colon: expected name: value"
	}
	return "expected a colon and a value after " + clip(n.text)
}

// document converts nodes of the YAML library to ours, and refuses parts of YAML that a configuration does not need.
type document struct {
	lines  []string
	above  []*yaml.Node // nodes around the current one, outermost first
	alias  *node        // the outermost alias around the current node
	copies int          // nodes that aliases expanded to so far
	failed *Problem     // the first problem; reading stops there
}

// Limits of a document. Each use of an alias counts, because a short text could expand to more than fits into memory.
const (
	maxDepth  = 64
	maxCopies = 100_000
)
