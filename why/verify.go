package why

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Check is one thing that [Verify] recomputed.
type Check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// Verify recomputes an answer from the numbers printed in it: every key from its
// terms by the formula's text, the order of the children from their keys, and, from
// the evidence, the place of the job in the order of starts. It needs no scheduler.
func Verify(a *Answer) []Check {
	var checks []Check
	for i := range a.Levels {
		checks = append(checks, verifyLevel(&a.Levels[i])...)
	}
	if a.Rank != nil {
		checks = append(checks, verifyRank(a))
	}
	return checks
}

// Verified reports whether all checks hold.
func Verified(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return !c.OK })
}

func verifyLevel(l *Level) []Check {
	names := sortedNames(l)
	where := l.Pool
	if where == "" {
		where = "root"
	}
	eval, err := ParseFormula(l.Formula, names)
	if err != nil {
		return []Check{{"formula of " + where, false, err.Error()}}
	}
	keys := Check{What: "keys in " + where, OK: true}
	for _, c := range l.Children {
		values := make([]float64, len(names))
		for i, n := range names {
			values[i] = float64(c.Terms[n])
		}
		if got := eval(values); got != float64(c.Key) {
			keys.OK = false
			keys.Text = fmt.Sprintf("%s: %s = %v, but the key is %v", c.Name, l.Formula, got, float64(c.Key))
			return []Check{keys}
		}
	}
	keys.Text = fmt.Sprintf("%d recomputed by %s: all equal", len(l.Children), l.Formula)
	return []Check{keys, verifyOrder(l, where)}
}

func sortedNames(l *Level) []string {
	set := map[string]bool{}
	for _, c := range l.Children {
		for n := range c.Terms {
			set[n] = true
		}
	}
	var names []string
	for n := range set {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// verifyOrder checks that the children stand in the order of their keys, and that
// as many go before you as is said.
func verifyOrder(l *Level, where string) Check {
	order := Check{What: "order in " + where, OK: true}
	you := slices.IndexFunc(l.Children, func(c Child) bool { return c.Name == l.You })
	for i := 1; i < len(l.Children); i++ {
		if l.before(l.Children[i], l.Children[i-1]) {
			order.OK = false
			order.Text = fmt.Sprintf("%s stands after %s, but goes before it", l.Children[i].Name, l.Children[i-1].Name)
			return order
		}
	}
	if you < 0 || you+l.Left != l.Before {
		order.OK = false
		order.Text = fmt.Sprintf("%d children stand before %s, but it says %d", you+l.Left, l.You, l.Before)
		return order
	}
	order.Text = fmt.Sprintf("as the keys say; %d before %s", l.Before, l.You)
	return order
}

// before is the rule of all policies: those below their minimum first, then the
// smaller key, or the larger one if the rule says so, then the smaller tie, then the
// older pool.
func (l *Level) before(a, b Child) bool {
	if l.Order == LargestFirst {
		a.Key, b.Key = -a.Key, -b.Key
	}
	switch {
	case a.Needy != b.Needy:
		return a.Needy
	case a.Key != b.Key:
		return a.Key < b.Key
	case a.Tie != b.Tie:
		return a.Tie < b.Tie
	case a.Fixed != b.Fixed:
		return a.Fixed < b.Fixed
	}
	return a.Number < b.Number
}

// verifyRank starts tasks one by one from the evidence until it is the job's turn.
func verifyRank(a *Answer) Check {
	c := Check{What: "rank", OK: true}
	e := a.Evidence
	switch {
	case e == nil:
		c.Text = "not recomputed: the answer carries no evidence"
		return c
	case a.Rank.Capped:
		c.Text = "not recomputed: too many tasks go first"
		return c
	case !e.Complete:
		c.Text = "not recomputed: " + cmp.Or(e.Missing, "too many jobs wait")
		return c
	}
	for _, p := range e.Pools {
		if _, known := formulaNames[p.Policy]; !known && p.Policy != "" {
			c.Text = "not recomputed: " + p.Policy + " decides by chance"
			return c
		}
	}
	r, err := newReplay(e)
	if err != nil {
		return Check{c.What, false, err.Error()}
	}
	for n := int64(1); ; n++ {
		switch id := r.next(); id {
		case a.Subject.Job:
			if c.OK = n == a.Rank.Position; !c.OK && r.close {
				return Check{c.What, true, "not recomputed: pools are owed the same but for rounding"}
			}
			c.Text = fmt.Sprintf("%d starts replayed from the numbers: it is number %d; stated is %d", n, n, a.Rank.Position)
			return c
		case 0:
			return Check{c.What, false, fmt.Sprintf("after %d starts nothing can start, but job %d did not", n-1, a.Subject.Job)}
		}
	}
}
