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
