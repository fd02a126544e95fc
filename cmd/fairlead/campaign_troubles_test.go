//go:build campaign

package main

import (
	"testing"
	"time"
)

// TestCampaignTroubles causes the faults of TestRealTroubles. All places must show each fault within five seconds, and
// its end within five seconds.
func TestCampaignTroubles(t *testing.T) {
	for name, took := range troubles(t) {
		if took > 5*time.Second {
			t.Errorf("%s: %v until the last place showed it, or its end", name, took)
		}
	}
}
