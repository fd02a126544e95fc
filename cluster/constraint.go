package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Labels are properties of a node that cannot be counted: arch=amd64, rack=b.
type Labels map[string]string

// A Constraint restricts the labels of a node. It is written as
//
//	arch=amd64 & rack!=b        both hold
//	gpu_type=a100|h100          one of the values
//	rack!=a|b                   none of the values
//	ssd & !old                  there is a label ssd, whatever its value, and no label old
//	ssd | disk=nvme             one of these holds; a bare word after a value is a value
//
// | binds tighter than &, so there are no parentheses. Names and values are compared as a whole. They consist of
// letters, digits and _ . - / : + characters. A node without the label satisfies != . The empty constraint holds
// for every node.
type Constraint []Term

// Term is the part of a constraint between two &: at least one of its alternatives must hold.
type Term []alternative

// alternative is a condition on one label.
type alternative struct {
	Label  string
	Not    bool
	Values []string // one of them must match; if empty, the label must exist
}

// Allows reports whether the labels satisfy the constraint.
func (c Constraint) Allows(l Labels) bool {
	for i := range c {
		if !c[i].allows(l) {
			return false
		}
	}
	return true
}

func (t Term) allows(l Labels) bool {
	return slices.ContainsFunc(t, func(a alternative) bool {
		value, has := l[a.Label]
		return a.Not != (has && (len(a.Values) == 0 || slices.Contains(a.Values, value)))
	})
}

// String writes the constraint; equal constraints give equal texts.
func (c Constraint) String() string {
	var terms []string
	for _, t := range c {
		terms = append(terms, t.String())
	}
	return strings.Join(terms, " & ")
}

func (t Term) String() string {
	var alternatives []string
	for _, a := range t {
		alternatives = append(alternatives, a.String())
	}
	return strings.Join(alternatives, " | ")
}

func (a alternative) String() string {
	switch {
	case len(a.Values) > 0 && a.Not:
		return a.Label + "!=" + strings.Join(a.Values, "|")
	case len(a.Values) > 0:
		return a.Label + "=" + strings.Join(a.Values, "|")
	case a.Not:
		return "!" + a.Label
	}
	return a.Label
}

// ConstraintError reports a syntax error in a constraint.
type ConstraintError struct {
	Text    string
	At      int // offset in the text, in bytes
	Message string
}

func (e *ConstraintError) Error() string {
	return fmt.Sprintf("constraint %q, at %d: %s", e.Text, e.At+1, e.Message)
}

// maxConstraint is the largest length of a constraint, in bytes.
const maxConstraint = 1000

// ParseConstraint parses a constraint; see [Constraint]. Its errors are of type *ConstraintError.
func ParseConstraint(text string) (Constraint, error) {
	if len(text) > maxConstraint {
		const shown = 20
		problem := fmt.Sprintf("a constraint has at most %d bytes", maxConstraint)
		return nil, &ConstraintError{strings.ToValidUTF8(text[:shown], "") + "...", 0, problem}
	}
	p := constraintParser{text: text}
	if p.peek() == 0 {
		return nil, nil
	}
	var c Constraint
	for {
		c = append(c, p.term())
		if p.err != nil {
			return nil, p.err
		}
		switch p.peek() {
		case 0:
			c.sort()
			return c, nil
		case '&':
			p.at++
		default:
			p.fail("expected & or |")
			return nil, p.err
		}
	}
}

// sort brings a constraint into canonical form, so that equal ones compare equal.
func (c *Constraint) sort() {
	for _, t := range *c {
		for i := range t {
			slices.Sort(t[i].Values)
			t[i].Values = slices.Compact(t[i].Values)
		}
		slices.SortFunc(t, compareAlternatives)
	}
	slices.SortFunc(*c, func(a, b Term) int { return strings.Compare(a.String(), b.String()) })
	*c = slices.CompactFunc(*c, func(a, b Term) bool { return a.String() == b.String() })
}

// compareAlternatives orders alternatives with values last, and != after =: a bare word behind a value would be
// parsed as one more value.
func compareAlternatives(a, b alternative) int {
	place := func(x alternative) int {
		switch {
		case len(x.Values) == 0:
			return 0
		case !x.Not:
			return 1
		}
		return 2
	}
	return cmp.Or(place(a)-place(b), strings.Compare(a.String(), b.String()))
}

type constraintParser struct {
	text string
	at   int
	err  *ConstraintError
}

// peek skips blanks and returns the next byte, 0 at the end.
func (p *constraintParser) peek() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *constraintParser) fail(message string) {
	switch {
	case p.err != nil:
		return
	case p.peek() == '(' || p.peek() == ')' || p.peek() == '[' || p.peek() == ']':
		message = "there are no parentheses: | binds stronger than &, so a|b & c is (a or b) and c"
	case p.peek() == ',':
		message = "write & for both, or | for one of them"
	case p.peek() == '<' || p.peek() == '>':
		message = "labels are compared by = and != only"
	}
	p.err = &ConstraintError{p.text, p.at, message}
}

// term parses the alternatives of a term. A bare word after a value is one more value.
func (p *constraintParser) term() (t Term) {
	for {
		start := p.at
		a := p.alternative()
		if last := len(t) - 1; last >= 0 && !a.Not && len(a.Values) == 0 && len(t[last].Values) > 0 {
			t[last].Values = append(t[last].Values, a.Label)
		} else if last >= 0 && t[last].Not && len(t[last].Values) > 0 {
			p.at = start
			p.fail("after != only further values may follow |")
		} else {
			t = append(t, a)
		}
		if p.err != nil || p.peek() != '|' {
			return t
		}
		p.at++
	}
}

func (p *constraintParser) alternative() (a alternative) {
	if p.peek() == '!' {
		p.at++
		a.Not = true
	}
	a.Label = p.word("expected the name of a label")
	switch op := p.peek(); {
	case op == '!' && !a.Not && strings.HasPrefix(p.text[p.at:], "!="):
		p.at += 2
		a.Not = true
	case op == '=' && a.Not:
		p.fail("write " + a.Label + "!=value")
		return a
	case op == '=':
		p.at++
		if p.at < len(p.text) && p.text[p.at] == '=' {
			p.at++
		}
	default:
		return a
	}
	a.Values = []string{p.word("expected a value")}
	return a
}

func (p *constraintParser) word(message string) string {
	p.peek()
	start := p.at
	for p.at < len(p.text) && labelByte(p.text[p.at]) {
		p.at++
	}
	if start == p.at {
		p.fail(message)
	}
	return p.text[start:p.at]
}

func labelByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("_.-/:+", b) >= 0
}

// maxLabel is the largest length of names and values of labels, in bytes.
const maxLabel = 64

// CheckLabel returns an error if a label is invalid.
func CheckLabel(name, value string) error {
	for _, w := range []string{name, value} {
		switch i := strings.IndexFunc(w, func(r rune) bool { return r > 127 || !labelByte(byte(r)) }); {
		case w == "":
			return fmt.Errorf("label %q=%q: a name and a value are needed: --label rack=b", name, value)
		case i >= 0:
			return fmt.Errorf("label %s=%s: %q: names and values have letters, digits and _ . - / : + only", name, value, w[i:])
		case len(w) > maxLabel:
			return fmt.Errorf("label %s=%s: names and values have at most %d bytes", name, value, maxLabel)
		}
	}
	return nil
}
