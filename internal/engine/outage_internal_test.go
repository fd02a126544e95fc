package engine

import "testing"

// TestOutagesAreNoWallTimes: setting the wall clock does not make an outage longer.
func TestOutagesAreNoWallTimes(t *testing.T) {
	var o outages
	o.note()
	if at := *o.latest.Load(); at == at.Round(0) { // Round removes the reading of the monotonic clock
		t.Error("an outage is known by the clock on the wall alone")
	}
}
