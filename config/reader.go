package config

import (
	"fmt"
	"strings"
)

// reader turns nodes into values and collects the problems. It continues after each one, to report all at once.
type reader struct {
	found Problems
	hints Problems
	more  int  // number of problems beyond maxProblems
	lost  bool // one of the problems beyond maxProblems is an error

	unit string          // resource in which shares are counted
	path string          // of the pool whose children are read
	cost int             // of the expressions so far
	tree map[string]bool // the paths of all pools, once these are read
}

func (r *reader) errorf(n *node, format string, args ...any) { r.note(n, false, format, args) }
func (r *reader) warnf(n *node, format string, args ...any)  { r.note(n, true, format, args) }

func (r *reader) hintf(n *node, format string, args ...any) {
	r.hints = append(r.hints, Problem{Line: n.line, Col: n.col, Warning: true, Hint: true,
		Msg: fmt.Sprintf(format, args...)})
}

func (r *reader) note(n *node, warning bool, format string, args []any) {
	if len(r.found) >= maxProblems {
		r.more++
		r.lost = r.lost || !warning
		return
	}
	r.found = append(r.found, Problem{Line: n.line, Col: n.col, Setting: n.from, Warning: warning,
		Msg: fmt.Sprintf(format, args...)})
}

// count returns the number of problems so far.
func (r *reader) count() int { return len(r.found) + r.more }

// full reports whether the reader only counts further problems, so that nobody need make their messages.
func (r *reader) full() bool { return len(r.found) >= maxProblems }

// entry is a name with its value.
type entry struct{ key, value *node }

// entries returns the names of a mapping with their values, and false if n is not a mapping. It treats a missing value
// as an empty mapping.
func (r *reader) entries(name string, n *node) ([]entry, bool) {
	if n.kind != mapping {
		if n.kind != nothing {
			r.errorf(n, "%s must hold names with values, such as {name: 1}; got %s", name, n.describe())
		}
		return nil, n.kind == nothing
	}
	all := make([]entry, 0, len(n.keys))
	first := make(map[string]*node, len(n.keys))
	for i, k := range n.keys {
		if f := first[k.text]; f != nil {
			r.errorf(k, "%s is given twice; the first time on line %d", clip(k.text), f.line)
			continue
		}
		first[k.text] = k
		all = append(all, entry{k, n.items[i]})
	}
	return all, true
}

// rules reports whether n is a list of at most "most" rules. It returns false without a problem if there is no value.
func (r *reader) rules(name string, n *node, most int) bool {
	switch {
	case n.kind == nothing:
		return false
	case n.kind != list:
		r.errorf(n, "%s must be a list of rules, got %s", name, n.describe())
		return false
	case len(n.items) > most:
		r.errorf(n, "%s has %d rules; at most %d are allowed", name, len(n.items), most)
		return false
	}
	return true
}

// text returns the text of a scalar.
func (r *reader) text(name string, n *node) (string, bool) {
	switch {
	case n.kind == nothing:
		r.errorf(n, "%s has no value", name)
	case n.kind != scalar:
		r.errorf(n, "%s must be a single value, got %s", name, n.describe())
	default:
		return n.text, true
	}
	return "", false
}

// describe names n's kind of value for a message.
func (n *node) describe() string {
	switch {
	case n.kind == mapping:
		return "names with values"
	case n.kind == list:
		return "a list"
	case n.kind == nothing:
		return "nothing"
	case n.quoted:
		return "the text " + clip(n.text)
	}
	return strings.Trim(clip(n.text), `"`)
}
