package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Wins says in words why one child goes before another, with the numbers of both. In the text, the argument "who" is
// the name of the first child.
func (l *Level) Wins(who string, first, you Child, growth float64) string {
	switch {
	case first.BelowMin && !you.BelowMin:
		if first.Lack == nil || first.Lack.Pool == l.path(first) {
			return who + " is " + first.Lack.text(l.path(first))
		}
		return first.Lack.text("")
	case first.Share > 0 && you.Share == 0 && (l.Policy == "load" || l.Policy == "fairtree"):
		return you.called() + " is entitled to nothing, and gets only what no other pool can use"
	case l.TermByTerm:
		return fmt.Sprintf("%s has %s, and %s has %s", who, l.listed(first), you.called(), l.listed(you))
	case l.Policy == "lottery":
		x, y := ShortPair(float64(first.Key), float64(you.Key))
		return fmt.Sprintf("the first is drawn at random, in proportion to the weights: %s against %s", x, y)
	case first.Key == you.Key:
		return l.equal(who, first, you, growth) + ", and " + l.tiedBy(who, first, you)
	}
	return cmp.Or(l.lessUsed(who, first, you), l.eachInWords(who, first, you, growth), l.byKey(who, first, you, growth))
}

// lessUsed says that the first child has used less of its share than the other one, if the policy compares past use
// and the percentages show it. They may not show it, because some policies also count the future usage of running
// tasks.
func (l *Level) lessUsed(who string, first, you Child) string {
	if l.Says != "" || !slices.ContainsFunc(l.Terms, Term.decays) || first.Share == 0 || you.Share == 0 ||
		first.Used*you.Share >= you.Used*first.Share {
		return ""
	}
	used := func(c Child) string { return fmt.Sprintf("%.1f%% of %.1f%%", 100*c.Used, 100*c.Share) }
	if used(first) == used(you) {
		return ""
	}
	return fmt.Sprintf("%s has used less of its share (%s) than %s (%s)", who, used(first), you.called(), used(you))
}

// eachInWords puts the numbers of both children into the policy's words, if it has any.
func (l *Level) eachInWords(who string, first, you Child, growth float64) string {
	if l.Says == "" {
		return ""
	}
	text, other := l.Words(first, growth), l.Words(you, growth)
	if text == other { // only digits that are not shown differ
		return ""
	}
	return fmt.Sprintf("%s %s, and %s %s", who, text, you.called(), other)
}

// equal says that two children have equal keys.
func (l *Level) equal(who string, first, you Child, growth float64) string {
	if text := l.eachInWords(who, first, you, growth); text != "" {
		return text + ", which compare as equal"
	}
	return "both have the " + l.keyIs(Short(l.KeyNow(first, growth)))
}

// byKey compares the keys of two children.
func (l *Level) byKey(who string, first, you Child, growth float64) string {
	than := "smaller"
	if l.Order == LargestFirst {
		than = "larger"
	}
	a, b := l.KeyNow(first, growth), l.KeyNow(you, growth)
	if rounded(a, b) {
		return fmt.Sprintf("both have the %s, a tie apart from rounding, and the %s goes first", l.keyIs(Short(a)), than)
	}
	x, y := ShortPair(a, b)
	return fmt.Sprintf("%s has the %s %s, and %s %s", who, than, l.keyIs(x), you.called(), y)
}

// keyIs names a key and its value in the policy's words.
func (l *Level) keyIs(key string) string {
	return strings.ReplaceAll(cmp.Or(l.Called, "key {key}"), "{key}", key)
}

// tiedBy names the rule that decides between two children with equal keys.
func (l *Level) tiedBy(who string, first, you Child) string {
	switch {
	case first.Tie == you.Tie && first.Fixed != you.Fixed:
		return who + " is ahead in digits that are not shown"
	case first.Tie == you.Tie:
		return who + " is the older pool"
	}
	return cmp.Or(l.Tied, "the larger weight goes first")
}
