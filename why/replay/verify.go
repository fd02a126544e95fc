package replay

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// Verify recomputes an answer from the numbers printed in it. It recomputes every key from its terms by the text of the
// formula, and the order of the children from their keys. It recomputes the place of the job in the order of starts
// from the evidence, and planned starts from the tasks on their nodes. It needs no scheduler, only the rules of the
// policies, which the function "rules" (policy.Rule) finds by name.
func Verify(a *why.Answer, rules func(policy string) Rule) []why.Check {
	var checks []why.Check
	for i := range a.Levels {
		checks = append(checks, verifyLevel(&a.Levels[i])...)
	}
	if a.Rank != nil {
		checks = append(checks, verifyRank(a, rules))
	}
	if a.Kept != nil {
		checks = append(checks, verifyRoom("room that is kept for it", a.Kept))
	}
	for i := range a.Gates {
		if g := &a.Gates[i]; g.Kept != nil {
			checks = append(checks, verifyRoom(fmt.Sprintf("room that is kept for job %d", g.Kept.Job), g.Kept))
		}
	}
	return checks
}

// starts counts starts in words.
func starts(n int64) string {
	if n == 1 {
		return "1 start"
	}
	return fmt.Sprintf("%d starts", n)
}

// verifyRoom recomputes a planned start.
func verifyRoom(what string, k *room.Kept) why.Check {
	text, err := k.Check()
	if err != nil {
		return why.Check{What: what, Text: err.Error()}
	}
	return why.Check{What: what, OK: true, Text: text}
}

func verifyLevel(l *why.Level) []why.Check {
	names := sortedNames(l)
	where := l.Pool
	if where == "" {
		where = "cluster"
	}
	eval, err := why.ParseFormula(l.Formula, names)
	if err != nil {
		return []why.Check{{What: "formula of " + where, Text: err.Error()}}
	}
	keys := why.Check{What: "keys in " + where, OK: true}
	for _, c := range l.Children {
		values := make([]float64, len(names))
		for i, n := range names {
			values[i] = float64(c.Terms[n])
		}
		if got := eval(values); got != float64(c.Key) {
			keys.OK = false
			keys.Text = fmt.Sprintf("%s: %s = %v, but the key is %v", c.Name, l.Formula, got, float64(c.Key))
			return []why.Check{keys}
		}
	}
	keys.Text = fmt.Sprintf("%d recomputed by %s: all equal", len(l.Children), l.Formula)
	return []why.Check{keys, verifyOrder(l, where)}
}

func sortedNames(l *why.Level) []string {
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

// verifyOrder checks that the children are in the order of their keys, and that the stated number of children goes
// before the child of the job in question.
func verifyOrder(l *why.Level, where string) why.Check {
	order := why.Check{What: "order in " + where, OK: true}
	you := slices.IndexFunc(l.Children, func(c why.Child) bool { return c.Name == l.You })
	for i := 1; i < len(l.Children); i++ {
		if goesBefore(l, l.Children[i], l.Children[i-1]) {
			order.OK = false
			order.Text = fmt.Sprintf("%s is listed after %s, but goes before it", l.Children[i].Name, l.Children[i-1].Name)
			return order
		}
	}
	if you < 0 || you+l.Left != l.Before {
		order.OK = false
		order.Text = fmt.Sprintf("%d children are listed before %s, but the answer says %d", you+l.Left, l.You, l.Before)
		return order
	}
	order.Text = fmt.Sprintf("sorted by key; %s is number %d", l.You, l.Before+1)
	if l.Before == 0 {
		order.Text = fmt.Sprintf("sorted by key; %s goes first", l.You)
	}
	return order
}

// goesBefore is the rule of all policies. Children below their minimum go first. Among the others the smaller
// key goes first (or the larger one if the policy says so), then the smaller tie, then the smaller Fixed,
// then the older pool.
func goesBefore(l *why.Level, a, b why.Child) bool {
	if l.Order == why.LargestFirst {
		a.Key, b.Key = -a.Key, -b.Key
	}
	switch {
	case a.BelowMin != b.BelowMin:
		return a.BelowMin
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
func verifyRank(a *why.Answer, rules func(policy string) Rule) why.Check {
	c := why.Check{What: "rank", OK: true}
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
		if p.Policy != "" && ruleOf(p.Policy, rules) == nil {
			c.Text = "not recomputed: " + p.Policy + " decides by chance"
			return c
		}
	}
	r, err := newReplay(e, rules)
	if err != nil {
		return why.Check{What: c.What, Text: err.Error()}
	}
	for n := int64(1); ; n++ {
		id := r.next()
		c.OK = id == a.Subject.Job && n == a.Rank.Position
		if (id == a.Subject.Job || id == 0) && !c.OK && r.close {
			// Whichever pool went first may also have taken the license that the job needs.
			return why.Check{What: c.What, OK: true, Text: "not recomputed: the lags of pools are equal, apart from rounding"}
		}
		switch id {
		case a.Subject.Job:
			give := "give"
			if n == 1 {
				give = "gives"
			}
			c.Text = fmt.Sprintf(
				"%s replayed from the numbers %s rank %d; the answer says %d", starts(n), give, n, a.Rank.Position)
			return c
		case 0:
			return why.Check{What: c.What,
				Text: fmt.Sprintf("after %d starts nothing can start, but job %d did not", n-1, a.Subject.Job)}
		}
	}
}
