package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// ruleTable describes one placement rule.
var ruleTable *table

// Limits of the rules. Each expression is compiled to a program. A short text such as (a{100}){10} can stand for a
// long program, so the programs have limits, too.
const (
	maxRules  = 1000
	maxRuns   = 10_000    // steps of the program of one expression
	maxAllRun = 1_000_000 // of all expressions together
)

// rules is the list of placement rules; their order matters.
var rules = kind[[]share.Rule]{
	word: "list of rules",
	schema: described(object{"type": []string{"array", "null"}, "items": object{"$ref": "#/$defs/rule"},
		"maxItems": maxRules}),
	read: readRules,
	show: func(all []share.Rule) *node {
		if all == nil {
			return nil
		}
		n := &node{kind: list}
		for i := range all {
			n.items = append(n.items, ruleTable.show(&all[i]))
		}
		return n
	},
}

// readRules reads the list of rules. A missing value is not an empty list: without a list, jobs go to the pools of
// their users; with an empty list, all jobs go to the pool default.
func readRules(r *reader, name string, n *node) ([]share.Rule, bool) {
	if !r.rules(name, n, maxRules) {
		return nil, false
	}
	all := make([]share.Rule, len(n.items))
	for i, item := range n.items {
		before := r.count()
		ruleTable.read(r, fmt.Sprintf("rule %d", i+1), item, &all[i])
		if r.count() > before { // the condition of the rule is unknown
			all[i] = share.Rule{}
			continue
		}
		r.checkReached(item, i, all[:i], all[i].Match)
	}
	return all, true
}

// checkReached refuses a rule that no job reaches, because a rule above matches all of its jobs.
func (r *reader) checkReached(n *node, i int, above []share.Rule, match map[string]string) {
	for k := range above {
		if !within(match, above[k].Match) || above[k].Pool == "" {
			continue
		}
		all := "all its jobs"
		if within(nil, above[k].Match) {
			all = "every job"
		}
		r.errorf(n, "rule %d can never match: rule %d above takes %s", i+1, k+1, all)
		return
	}
}

// within reports whether all jobs that match the rule "narrow" also match the rule "wide". It compares only texts:
// "narrow" must have each expression of "wide" except for .*.
func within(narrow, wide map[string]string) bool {
	for field, expr := range wide {
		if expr != ".*" && narrow[field] != expr {
			return false
		}
	}
	return true
}

// expression makes a field of a rule: a regular expression that must match the whole value.
func expression(name, doc string) field {
	text := line("regular expression", share.MaxExpression, anyText)
	return field{
		name: name, doc: doc, word: text.word, schema: text.schema,
		read: func(r *reader, n *node, to any) {
			expr, ok := text.read(r, name, n)
			if !ok || !r.checkExpression(name, n, expr) {
				return
			}
			rule := to.(*share.Rule)
			if rule.Match == nil {
				rule.Match = map[string]string{}
			}
			rule.Match[name] = expr
		},
		show: func(from any) *node {
			if expr, ok := from.(*share.Rule).Match[name]; ok {
				return textOf(expr)
			}
			return nil
		},
	}
}

func (r *reader) checkExpression(name string, n *node, expr string) bool {
	if _, err := syntax.Parse(expr, syntax.Perl); err != nil { // about the expression, without the anchors
		r.errorf(n, "%s: %s", name, reason(err))
		return false
	}
	tree, err := syntax.Parse(`\A(?:`+expr+`)\z`, syntax.Perl)
	if err != nil {
		r.errorf(n, "%s: %s", name, reason(err))
		return false
	}
	size := program(tree)
	if r.cost += size; size > maxRuns || r.cost > maxAllRun {
		r.errorf(n, "%s: the expression is too large; repeat less in it", name)
		return false
	}
	if _, err := share.CompileExpression(expr); err != nil {
		r.errorf(n, "%s: %s", name, reason(err))
		return false
	}
	return true
}

// reason returns the message of an error in an expression, without the anchors that checkExpression adds.
func reason(err error) string {
	var e *syntax.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: %s", e.Code, clip(strings.TrimSuffix(strings.TrimPrefix(e.Expr, `\A(?:`), `)\z`)))
	}
	return err.Error()
}

// program estimates how many steps an expression's program has.
func program(e *syntax.Regexp) int {
	size := 1 + len(e.Rune)/2
	for _, sub := range e.Sub {
		size += program(sub)
	}
	if e.Op == syntax.OpRepeat {
		size *= max(1, e.Min, e.Max)
	}
	return min(size, 1<<30)
}

// template is the path of a rule's pool, with fields in braces.
var template = kind[string]{
	word:   "path with {user}, {group}, {kind}, {requestor}",
	schema: line("", 1024, someText).schema,
	read: func(r *reader, name string, n *node) (string, bool) {
		text, ok := line("", 1024, someText).read(r, name, n)
		if !ok {
			return "", false
		}
		var wrong *share.RuleError
		if _, err := share.NewPlacementRules([]share.Rule{{Pool: text}}); errors.As(err, &wrong) {
			r.errorf(n, "%v", wrong.Err)
			return "", false
		}
		return text, true
	},
	show: textOf,
}

// checkTargets refuses rules that lead out of a closed tree. It checks a path only up to the first field, because
// only a job has a value for the field.
func (r *reader) checkTargets(n *node) {
	if n == nil || n.kind != list {
		return
	}
	var known []string
	for _, item := range n.items {
		to := item.get("pool")
		if to == nil || to.kind != scalar || r.full() {
			continue
		}
		path, _, _ := strings.Cut(to.text, "{")
		if path != to.text {
			path, _ = share.Cut(path)
		}
		if path == "" || r.tree[path] {
			continue
		}
		if known == nil {
			known = slices.Sorted(maps.Keys(r.tree))
		}
		r.errorf(to, "%s (pools_on_demand is false)", unknown("pool", path, known))
	}
}
