package replay

import (
	"math"
	"testing"

	"github.com/fairlead/fairlead/why"
)

// TestVerifyNotices changes single numbers of an answer, and checks that each change is found.
func TestVerifyNotices(t *testing.T) {
	answer := func() *why.Answer {
		child := func(name string, served, weight float64, number int32) why.Child {
			return why.Child{Name: name, Key: why.Number(served / weight), Number: number, Terms: map[string]why.Number{
				"joined": 0, "served": why.Number(served), "expected": 0, "weight": why.Number(weight),
			}}
		}
		return &why.Answer{Levels: []why.Level{{
			Policy: "fair", Formula: "joined + (served + expected) / weight", You: "b", Before: 1,
			Children: []why.Child{child("a", 3, 2, 1), child("b", 5, 2, 2), child("c", 9, 1, 3)},
		}}}
	}
	if checks := Verify(answer(), nil); !why.Verified(checks) {
		t.Fatalf("a true answer is refused: %+v", checks)
	}
	for name, change := range map[string]func(*why.Level){
		"a term":         func(l *why.Level) { l.Children[1].Terms["served"]++ },
		"a key":          func(l *why.Level) { l.Children[0].Key = why.Number(math.Nextafter(1.5, 2)) },
		"the order":      func(l *why.Level) { l.Children[0], l.Children[2] = l.Children[2], l.Children[0] },
		"the place":      func(l *why.Level) { l.Before = 0 },
		"the formula":    func(l *why.Level) { l.Formula = "joined + served / weight + expected + weight" },
		"who it is":      func(l *why.Level) { l.You = "c" },
		"a cut sibling":  func(l *why.Level) { l.Left = 1 },
		"a missing term": func(l *why.Level) { delete(l.Children[2].Terms, "weight") },
	} {
		a := answer()
		change(&a.Levels[0])
		if why.Verified(Verify(a, nil)) {
			t.Errorf("a change of %s is not noticed", name)
		}
	}
}

// lag is a rule whose numbers are rounded, as those of the policy deficit are.
type lag struct{}

var lags = why.NewFormula("lag", "received - ideal", "smallest first", why.Term{Name: "received"},
	why.Term{Name: "ideal"})

func (lag) Formula() *why.Formula { return lags }

func (lag) Recompute(c *Choice) Standing {
	o := c.Child.Owed[0]
	return Standing{Values: [why.MaxTerms]float64{o.Received, o.Ideal}, Rounded: true}
}

// TestRoundingDecidesWhoTakesTheLicense: the lags of two pools are equal apart from rounding, and there is one license
// for the jobs of both. So rounding also decides which of the jobs never starts.
func TestRoundingDecidesWhoTakesTheLicense(t *testing.T) {
	leaf := func(number int32, name string, ideal float64) why.PoolEvidence {
		return why.PoolEvidence{Number: number, Name: name, Path: name, Weight: 1, TasksLeft: -1, UnitsLeft: -1,
			Owed: []why.Owed{{Received: 1, Ideal: ideal}}, Jobs: []why.JobEvidence{{ID: int64(number), Waiting: 1, Width: 1,
				Licenses: map[string]int64{"ansys": 1}}}}
	}
	for name, c := range map[string]struct {
		ideal float64
		ok    bool
	}{"apart from rounding": {2 + 1e-12, true}, "by more than rounding": {2 + 1e-3, false}} {
		a := &why.Answer{Subject: why.Subject{Job: 1}, Rank: &why.Rank{Position: 1}, Evidence: &why.Evidence{
			Complete: true, Licenses: map[string]int64{"ansys": 1}, Pools: []why.PoolEvidence{
				{Parent: -1, Policy: "lag", Formula: "received - ideal", Order: "smallest first", TasksLeft: -1, UnitsLeft: -1,
					Divides: true}, leaf(1, "a", 2), leaf(2, "b", c.ideal)}}}
		if checks := Verify(a, func(string) Rule { return lag{} }); why.Verified(checks) != c.ok {
			t.Errorf("the lags differ %s: %+v", name, checks)
		}
	}
}
