package tidy

import (
	"slices"
	"testing"
)

// TestCirclesAndArrowsBack checks the two measures of files on a small package: a, b and c lead to one
// another, d leads to them, and only one arrow of the circle has to run back.
func TestCirclesAndArrowsBack(t *testing.T) {
	g := graph{
		"a": {"b": true, "c": true},
		"b": {"c": true},
		"c": {"a": true},
		"d": {"a": true, "b": true},
		"e": {},
	}
	found := circles(g)
	if len(found) != 1 || !slices.Equal(found[0], []string{"a", "b", "c"}) {
		t.Fatalf("circles %v, want a, b and c", found)
	}
	if back := g.back(g.order(found[0])); !slices.Equal(back, []string{"c -> a"}) {
		t.Errorf("arrows back %v, want c -> a", back)
	}
}

// TestArrowsBackAreFew checks that moving single files finds the order that the first choice misses.
func TestArrowsBackAreFew(t *testing.T) {
	g := graph{"a": {"b": true}, "b": {"c": true}, "c": {"d": true}, "d": {"a": true}}
	row := []string{"a", "b", "c", "d"} // three of four arrows lead to a later file
	for g.improve(row) {
	}
	if back := g.back(row); len(back) != 1 {
		t.Errorf("arrows back %v in the order %v, want one", back, row)
	}
}
