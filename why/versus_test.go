package why_test

import (
	"math"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/why"
)

// TestVersusInWords: the last line of a comparison says what decided, in the words of the policy.
func TestVersusInWords(t *testing.T) {
	level := func(policy, order string, x, y why.Child) why.Level {
		return why.Level{Policy: policy, Formula: "weight", Order: order, You: "b", Children: []why.Child{x, y}}
	}
	below := why.Child{Name: "a", BelowMin: true, Lack: &why.Lack{Pool: "a/deep", Resource: "cpu", Min: 2}}
	own := below
	own.Lack = &why.Lack{Pool: "a", Resource: "cpu", Min: 2}
	few, many := why.Child{Name: "a", Key: 1}, why.Child{Name: "b", Key: 3}
	const sum = 0.1 + 0.2
	for want, l := range map[string]why.Level{
		"Decided by a minimum in it: a/deep is below its minimum: 0 of 2 cpu.": level("fair", "smallest first", below, many),
		"Decided by the minimum: a is below its minimum: 0 of 2 cpu.":          level("fair", "smallest first", own, many),
		"Decided by the key: 3 > 1.":                                           level("decay", why.LargestFirst, many, few),
		"Decided by the key: 1 < 3.":                                           level("fair", "smallest first", few, many),
		"Both may be drawn; b is more likely.": level("lottery",
			"drawn at random, in proportion", few, many),
		"Both may be drawn, with the same chance.": level("lottery",
			"drawn at random, in proportion", few, why.Child{Name: "b", Key: 1}),
		"A tie, apart from rounding: the keys are equal in the first 11 digits, and a goes first by": level("fair",
			"smallest first", why.Child{Name: "a", Key: sum},
			why.Child{Name: "b", Key: why.Number(math.Nextafter(sum, 1))}),
	} {
		c := &why.Comparison{A: "job 1", B: "job 2"}
		c.Decide(l)
		got := c.Text(why.Units{})
		if !strings.Contains(got, want) {
			t.Errorf("want %s, got:\n%s", want, got)
		}
		if drawn := strings.Contains(got, "Chance decides"); drawn != (l.Policy == "lottery") || drawn &&
			strings.Contains(got, "goes first\n") {
			t.Errorf("chance under %s:\n%s", l.Policy, got)
		}
	}
}

// TestTies: if two keys are equal, their digits are not compared; the text names the deciding fact instead.
func TestTies(t *testing.T) {
	l := why.Level{Policy: "fair", Formula: "weight", Order: "smallest first", Called: "key {key}"}
	a := why.Child{Name: "a", Key: 0.1 + 0.2}
	for want, b := range map[string]why.Child{
		"both have the key 0.3, and a is the older pool":                     {Name: "b", Key: a.Key},
		"both have the key 0.3, and the larger weight goes first":            {Name: "b", Key: a.Key, Tie: 1},
		"both have the key 0.3, and a is ahead in digits that are not shown": {Name: "b", Key: a.Key, Fixed: 1},
		"both have the key 0.3, a tie apart from rounding, and the smaller goes first": {
			Name: "b", Key: why.Number(math.Nextafter(float64(a.Key), 1))},
		"a has the smaller key 0.3, and b 0.30001": {Name: "b", Key: 0.30001},
	} {
		if got := l.Wins("a", a, b, 1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
