package main

import "testing"

// TestVerifyAsksForNoEstimate checks that why requests replays of the future, which take most of the time of
// an answer, only if it prints their result.
func TestVerifyAsksForNoEstimate(t *testing.T) {
	for _, c := range []struct {
		why  whyCmd
		want bool
	}{
		{whyCmd{}, true},
		{whyCmd{noEstimate: true}, false},
		{whyCmd{verify: true}, false},
		{whyCmd{verify: true, json: true}, true},
	} {
		if o := c.why.options(); o.Estimate != c.want || o.Evidence != c.why.verify {
			t.Errorf("verify %v, json %v: %+v", c.why.verify, c.why.json, o)
		}
	}
}
