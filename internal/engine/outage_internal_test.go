package engine

import "testing"

// TestOutagesAreNoWallTimes: that the clock on the wall is set does not make an outage longer.
func TestOutagesAreNoWallTimes(t *testing.T) {
	var o outages
	o.note()
	if at := *o.latest.Load(); at == at.Round(0) { // Round takes the reading of the other clock off
		t.Error("an outage is known by the clock on the wall alone")
	}
}
