package main

import (
	"bytes"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
)

// TestSmallJainIsExplained checks that the report names the child pools that received the largest and the smallest part
// of their entitlement.
func TestSmallJainIsExplained(t *testing.T) {
	pool := func(path string, depth int, due, received, jain float64) views.PoolView {
		p := views.PoolView{Path: path, Depth: depth}
		p.Fairness.Day = views.FairnessSpan{Ideal: due, Received: received, Jain: jain}
		return p
	}
	doc := &api.Shares{Pools: []views.PoolView{
		pool("", 0, 100, 100, 0.97), pool("guest", 1, 50, 50, 0.53), pool("guest/ann", 2, 20, 40, 1),
		pool("guest/bob", 2, 30, 3, 1), pool("guest/eve", 2, 0, 7, 1), pool("lab", 1, 50, 50, 1),
		pool("lab/zoe", 2, 50, 50, 1),
	}}
	var out bytes.Buffer
	uneven{(&fairnessReport{window: "day"}).span}.explain(&out, doc)
	want := "Jain 0.53 of guest: guest/ann received 200.0% of its entitlement, and guest/bob 10.0%\n"
	if got := out.String(); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
