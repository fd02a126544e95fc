package sched_test

import (
	"testing"

	"github.com/fairlead/fairlead/share"
)

// TestHalfASlotBelowTheRoot: 70% of 45 slots are 31.5, but 31.499... if the percentage is computed first. The pools
// below divide 32 slots, the number that the root allots.
func TestHalfASlotBelowTheRoot(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "load", Pools: []share.Pool{
		{Name: "a", Weight: 3}, {Name: "b", Weight: 7, Pools: []share.Pool{{Name: "x", Weight: 1}, {Name: "y", Weight: 1}}},
	}}, 45, 1)
	j := w.submit("b/y", 1)
	levels := w.Explain().Comparisons(w.Leaf(j), 0)
	for i, want := range []float64{32, 16} {
		for _, c := range levels[i].Children {
			if got := float64(c.Terms["target"]); c.Name == levels[i].You && got != want {
				t.Errorf("the target of %s is %v, want %v", c.Name, got, want)
			}
		}
	}
}
