package why

import (
	"fmt"
	"math"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// Comparison says which of two goes first, and names the number that decides.
type Comparison struct {
	Version int    `json:"version"`
	A       string `json:"a"` // the job or pool in question
	B       string `json:"b"` // the one it is compared with
	PoolA   string `json:"pool_a"`
	PoolB   string `json:"pool_b"`
	First   string `json:"first"` // "a" or "b"
	// By names the criterion that decided. Within one leaf pool it is order. Between pools it is work (one
	// has no work that may start), minimum (one is below its guaranteed minimum), key, tie (the second
	// number of the policy), digits (the keys are equal as written, but their exact values differ), or age.
	By    string `json:"by"`
	Level Level  `json:"level"`
	Note  string `json:"note,omitempty"`
	// Standing says which of the two does not wait for its turn. Then only their places are compared.
	Standing string `json:"standing,omitempty"`
}

// Decide records which child of a two-child level goes first, and which number decides. l.You is the name of
// the child that contains A.
func (c *Comparison) Decide(l Level) {
	first, second := l.Children[0], l.Children[1]
	c.Level, c.First = l, "b"
	if first.Name == l.You {
		c.First = "a"
	}
	switch {
	case first.BelowMin != second.BelowMin:
		c.By = "minimum"
	case first.Key != second.Key:
		c.By = "key"
	case first.Tie != second.Tie:
		c.By = "tie"
	case first.Fixed != second.Fixed:
		c.By = "digits"
	default:
		c.By = "age"
	}
}

// Text is the comparison for a person.
func (c *Comparison) Text(u Units) string {
	var b strings.Builder
	first, second := share.Original(c.A), share.Original(c.B)
	if c.First == "b" {
		first, second = second, first
	}
	if c.drawn() {
		fmt.Fprintf(&b, "Chance decides which of %s and %s goes first", first, second)
	} else {
		fmt.Fprintf(&b, "%s goes before %s", first, second)
	}
	if c.By == "order" {
		fmt.Fprintf(&b, ": %s.\n", c.Note)
		b.WriteString(c.standing())
		return b.String()
	}
	where := "in " + share.Original(c.Level.Pool)
	if c.Level.Pool == "" {
		where = "in the cluster"
	}
	fmt.Fprintf(&b, "%s.\n  Compared %s by %s: %s\n", c.because(u.Growth), where, c.Level.Policy, c.Level.Rule())
	b.WriteString(c.Level.table(u, "    "))
	fmt.Fprintf(&b, "  %s\n", c.decidedBy(u.Growth))
	b.WriteString(c.standing())
	return b.String()
}

// because says in words why one goes before the other; "" if chance decides.
func (c *Comparison) because(growth float64) string {
	if c.drawn() {
		return ""
	}
	first, second := c.Level.Children[0], c.Level.Children[1]
	return ": " + c.Level.Wins(first.called(), first, second, growth)
}

// drawn reports whether chance decides.
func (c *Comparison) drawn() bool {
	return c.Level.Policy == "lottery" && c.By != "minimum" && c.By != "order" && c.By != "work"
}

func (c *Comparison) standing() string {
	if c.Standing == "" {
		return ""
	}
	return "  But " + c.Standing + "; otherwise their places compare as above.\n"
}

func (c *Comparison) decidedBy(growth float64) string {
	x, y := c.Level.Children[0], c.Level.Children[1]
	switch c.By {
	case "minimum":
		if path := c.Level.path(x); x.Lack == nil || x.Lack.Pool == path {
			return "Decided by the minimum: " + x.called() + " is " + x.Lack.text(path) + "."
		}
		return "Decided by a minimum in it: " + x.Lack.text("") + "."
	}
	if c.drawn() {
		switch {
		case x.Key == y.Key:
			return "Both may be drawn, with the same chance."
		case x.Key < y.Key:
			x = y
		}
		return "Both may be drawn; " + x.called() + " is more likely."
	}
	switch c.By {
	case "tie":
		text := "The keys are equal, and " + c.Level.tiedBy(x.called(), x, y)
		if x.Tie < 0 || y.Tie < 0 { // weights
			text += fmt.Sprintf(": %s against %s", Short(math.Abs(float64(x.Tie))), Short(math.Abs(float64(y.Tie))))
		}
		return text + "."
	case "digits":
		return "The keys are equal as written; " + x.called() + " goes first because of digits that are not shown."
	case "age":
		return "The keys are equal; the older pool goes first: " + x.called() + "."
	}
	if c.Level.TermByTerm {
		return fmt.Sprintf("Decided by %s: %s against %s. The size of the jobs is not compared.", c.Level.Rule(),
			c.Level.listed(x), c.Level.listed(y))
	}
	than := "<"
	if c.Level.Order == LargestFirst {
		than = ">"
	}
	p, q := c.Level.KeyNow(x, growth), c.Level.KeyNow(y, growth)
	if rounded(p, q) {
		return "A tie, apart from rounding: the keys are equal in the first 11 digits, and " + x.called() +
			" goes first by the other digits."
	}
	a, b := ShortPair(p, q)
	return fmt.Sprintf("Decided by the key: %s %s %s. The age of the jobs and their size are not compared.", a, than, b)
}
