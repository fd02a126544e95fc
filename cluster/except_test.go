package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestExcept keeps tasks off some nodes, and checks that they fit on all other nodes that are up, while nodes join,
// change and go.
func TestExcept(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	c := New("cpu")
	for n := range 3 {
		c.JoinLabelled(fmt.Sprint("n", n), Amounts{"cpu": 4}, Labels{"rack": "a"})
	}
	type kept struct {
		key  Key
		from []string
	}
	var all []kept
	for round := range 400 {
		switch name := fmt.Sprint("n", rng.IntN(8)); rng.IntN(4) {
		case 0:
			c.JoinLabelled(name, Amounts{"cpu": 4 + rng.Int64N(2)}, Labels{"rack": "a"})
		case 1:
			if id, known := c.Lookup(name); known {
				c.SetState(id, []State{Up, Drain, Down}[rng.IntN(3)])
			}
		default:
			var from []string
			for range rng.IntN(4) {
				from = append(from, fmt.Sprint("n", rng.IntN(8)))
			}
			must := Constraint{{{Label: "rack", Values: []string{"a"}}}}
			all = append(all, kept{c.KeyOf(Ask{Amounts: Amounts{"cpu": 1}, Must: c.Except(must, from)}), from})
		}
		for _, k := range all {
			var want []string
			for i, n := range c.Nodes() {
				fits := n.State == Up && !slices.Contains(k.from, n.Name)
				if fits {
					want = append(want, n.Name)
				}
				if c.Fits(NodeID(i), k.key) != fits {
					t.Fatalf("round %d: kept from %v, fits on %s: %v", round, k.from, n.Name, !fits)
				}
			}
			if at, ok := c.Place(k.key); ok != (len(want) > 0) || ok && !slices.Contains(want, c.Nodes()[at].Name) {
				t.Fatalf("round %d: kept from %v, placed %v, want one of %v", round, k.from, ok, want)
			}
		}
	}
}

// TestExceptNames: different sets of names stay different, and a node shows the labels that it was given.
func TestExceptNames(t *testing.T) {
	c := New("cpu")
	seen := map[Key][]string{}
	for _, names := range [][]string{nil, {"a"}, {"b"}, {"a", "b"}, {`a"|"b`}, {"a|b"}, {"a & @node!=b"}} {
		s := c.KeyOf(Ask{Amounts: Amounts{"cpu": 1}, Must: c.Except(nil, names)})
		if other, twice := seen[s]; twice {
			t.Errorf("%q and %q are one shape", names, other)
		}
		seen[s] = names
	}
	if a, b := c.Except(nil, []string{"x", "y"}), c.Except(nil, []string{"y", "x", "y"}); a.String() != b.String() {
		t.Errorf("%s and %s", a, b)
	}
	own := Labels{"rack": "b"}
	id := c.JoinLabelled("a", Amounts{"cpu": 1}, own)
	n := c.Nodes()[id]
	if len(n.Labels) != 2 || len(n.Labels.Own()) != 1 || len(own) != 1 {
		t.Errorf("labels %v, of these its own %v; given were %v", n.Labels, n.Labels.Own(), own)
	}
	steps := c.Empty().Requirements(Amounts{"cpu": 1}, c.Except(nil, []string{"a"}))
	if len(steps) == 0 || !slices.Equal(steps[0].Except, []string{"a"}) || steps[0].Left != 0 || steps[0].Term != "" {
		t.Errorf("steps %+v", steps)
	}
}

// TestExceptLeavesOthersAlike: nodes from which nothing is kept stay in one class.
func TestExceptLeavesOthersAlike(t *testing.T) {
	c := New("cpu")
	for n := range 10 {
		c.Join(fmt.Sprint("n", n), Amounts{"cpu": 4})
	}
	c.Except(nil, []string{"n3"})
	classes := 0
	for _, k := range c.fleet.classes.all {
		if k.nodes > 0 {
			classes++
		}
	}
	if classes != 2 {
		t.Errorf("%d classes, want 2", classes)
	}
}
