package share

import (
	"fmt"
	"regexp"
	"strings"
)

// MaxExpression bounds a rule's expression, in bytes.
const MaxExpression = 1 << 10

// Origin holds the properties of a job that decide its placement.
type Origin struct {
	User, Group, Kind, Requestor string
}

func (o Origin) field(name string) (string, bool) {
	switch name {
	case "user":
		return o.User, true
	case "group":
		return o.Group, true
	case "kind":
		return o.Kind, true
	case "requestor":
		return o.Requestor, true
	}
	return "", false
}

// Fields lists the names that rules and templates may use.
func Fields() []string { return []string{"user", "group", "kind", "requestor"} }

// Rule sends a job to a pool if the fields of the job match all its expressions.
type Rule struct {
	Match map[string]string // field -> regular expression over the whole value
	Pool  string            // template such as "{user}/{kind}"
}

// PlacementRules maps a job's origin to the path of its pool; the first matching rule decides. A pool that does not
// exist yet is created on demand.
type PlacementRules struct {
	rules []rule
}

type rule struct {
	match []match
	parts []part
}

type match struct {
	field string
	expr  *regexp.Regexp
}

// part is a literal text or, when field is set, the value of that field.
type part struct{ literal, field string }

// NewPlacementRules compiles the rules. The error names the number of the rule, from 0.
func NewPlacementRules(rules []Rule) (*PlacementRules, error) {
	p := &PlacementRules{}
	for i, r := range rules {
		c, err := compile(r)
		if err != nil {
			return nil, &RuleError{Index: i, Err: err}
		}
		p.rules = append(p.rules, c)
	}
	return p, nil
}

// RuleError says which placement rule is wrong.
type RuleError struct {
	Index int // from 0
	Err   error
}

func (e *RuleError) Error() string { return fmt.Sprintf("placement rule %d: %v", e.Index+1, e.Err) }
func (e *RuleError) Unwrap() error { return e.Err }

func compile(r Rule) (rule, error) {
	var c rule
	for _, field := range Fields() {
		text, ok := r.Match[field]
		if !ok {
			continue
		}
		expr, err := CompileExpression(text)
		if err != nil {
			return c, fmt.Errorf("%s: %w", field, err)
		}
		c.match = append(c.match, match{field, expr})
	}
	for field := range r.Match {
		if _, ok := (Origin{}).field(field); !ok {
			return c, fmt.Errorf("unknown field %q; known fields: %s", field, strings.Join(Fields(), ", "))
		}
	}
	parts, err := template(r.Pool)
	c.parts = parts
	return c, err
}

// CompileExpression compiles a rule's expression, anchored at both ends: it must match the whole value. Matching
// takes linear time (RE2).
func CompileExpression(text string) (*regexp.Regexp, error) {
	if len(text) > MaxExpression {
		return nil, fmt.Errorf("expression is longer than %d bytes", MaxExpression)
	}
	if _, err := regexp.Compile(text); err != nil {
		return nil, err // about the text itself, without the anchors
	}
	return regexp.Compile(`\A(?:` + text + `)\z`)
}

// template splits "{user}/{kind}" into parts, and checks that some values give a valid path.
func template(text string) ([]part, error) {
	var parts []part
	for rest := text; rest != ""; {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			parts = append(parts, part{literal: rest})
			break
		}
		end := strings.IndexByte(rest[open:], '}')
		if end < 0 {
			return nil, fmt.Errorf("pool %q: a { without }", text)
		}
		field := rest[open+1 : open+end]
		if _, ok := (Origin{}).field(field); !ok {
			return nil, fmt.Errorf("pool %q: unknown field {%s}; known fields: {%s}", text, field, strings.Join(Fields(), "}, {"))
		}
		if open > 0 {
			parts = append(parts, part{literal: rest[:open]})
		}
		parts = append(parts, part{field: field})
		rest = rest[open+end+1:]
	}
	if err := CheckPath(expand(parts, Origin{"u", "g", "k", "r"})); err != nil {
		return nil, err
	}
	return parts, nil
}

func expand(parts []part, o Origin) string {
	var b strings.Builder
	for _, p := range parts {
		if p.field == "" {
			b.WriteString(p.literal)
			continue
		}
		value, _ := o.field(p.field)
		switch p.field {
		case "user", "requestor":
			b.WriteString(userName(value))
		default:
			b.WriteString(CleanName(value))
		}
	}
	return b.String()
}

// Place returns the path of a job's pool and the number of the rule that decided, from 0. If no rule matches, it
// returns [DefaultPool] and -1.
func (p *PlacementRules) Place(o Origin) (path string, rule int) {
	for i, r := range p.rules {
		if r.matches(o) {
			if path := expand(r.parts, o); CheckPath(path) == nil {
				return path, i
			}
		}
	}
	return DefaultPool, -1
}

func (r rule) matches(o Origin) bool {
	for _, m := range r.match {
		if value, _ := o.field(m.field); !m.expr.MatchString(value) {
			return false
		}
	}
	return true
}
