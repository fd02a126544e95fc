//go:build campaign

package main

import (
	"fmt"
	"testing"
	"time"
)

// TestCampaignAgentKilled kills an agent. Its tasks must run again on another node at most 20 seconds after
// their leases end.
func TestCampaignAgentKilled(t *testing.T) {
	const lease, late = 3 * time.Second, 20 * time.Second
	took := killAgent(t, lease)
	fmt.Printf("figure: tasks ran again %v after their agent was killed, with a lease of %v\n", took, lease)
	if took > lease+late {
		t.Errorf("the tasks ran again %v after their agent was killed, want at most %v", took, lease+late)
	}
}
