package share

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestReach(t *testing.T) {
	p, err := NewPlacementRules([]Rule{
		{Match: map[string]string{"group": "physics"}, Pool: "physics/{user}"},
		{Pool: "x{kind}-{user}y/env/{requestor}"}, {Pool: "{group}{kind}"}, {Pool: "a/b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path         string
		makes, above bool
	}{
		{"physics", true, true}, {"physics/ann", true, false}, {"physics/ann/x", false, false}, {"biology/ann", false, false},
		{"a", false, true}, {"a/b", true, false}, {"a/c", false, false}, {"ab", true, false},
		{"xe5-anny", true, true}, {"xe5-anny/env", false, true}, {"xe5-anny/env/z", true, false},
		{"x-anny/env/z", false, false},
		{"xe5-y/env/z", false, false}, {"", false, false}, {"/", false, false}, {"physics/a b", false, false},
	} {
		if makes, above := p.Reach(c.path); makes != c.makes || above != c.above {
			t.Errorf("%q: makes %v, above %v", c.path, makes, above)
		}
	}
}

// TestReachHoldsForAllThatRulesMake: Reach says that the rules can make each pool to which they send a job, and pools
// below each pool above it.
func TestReachHoldsForAllThatRulesMake(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"{user}", "{kind}", "{group}", "{requestor}", "/", "a", "-b", "x"}
	values := []string{"", "a", "ab", "a/b", "-b-b", "cust:42", "default", strings.Repeat("é", 40)}
	tried := 0
	for range 20_000 {
		var text strings.Builder
		for range 1 + rng.IntN(7) {
			text.WriteString(pieces[rng.IntN(len(pieces))])
		}
		p, err := NewPlacementRules([]Rule{{Pool: text.String()}})
		if err != nil {
			continue
		}
		value := func() string { return values[rng.IntN(len(values))] }
		path, rule := p.Place(Origin{User: value(), Kind: value(), Group: value(), Requestor: value()})
		if rule < 0 {
			continue // too long
		}
		tried++
		if makes, _ := p.Reach(path); !makes {
			t.Fatalf("%s makes %q, and cannot", text.String(), path)
		}
		for above, _ := Cut(path); above != ""; above, _ = Cut(above) {
			if _, divides := p.Reach(above); !divides {
				t.Fatalf("%s makes %q, and nothing below %q", text.String(), path, above)
			}
		}
	}
	if tried < 5000 {
		t.Fatalf("only %d templates were tried", tried)
	}
}
