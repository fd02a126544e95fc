package forecast

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/why"
)

// TestAdvice: the conclusion names the change that helps most, or says that none helps. If the search ended early, it
// says nothing about changes that were not tried.
func TestAdvice(t *testing.T) {
	at := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	shorter := why.Change{Flags: "-t 10m or less", Now: true, Seconds: 600}
	smaller := why.Change{Flags: "-c 2", By: at, Seconds: 1200}
	raised := why.Change{Flags: "--priority high", Alter: true, By: at, Seconds: 1200}
	tried := []string{"a shorter time limit", "a smaller request"}
	const by = "it would start by 2026-01-05T08:00:00Z, 20m sooner"
	none := "none of the changes tried would start it much sooner (" + strings.Join(tried, ", ") + ")"
	for want, changes := range map[string][]why.Change{
		"submit -t 10m or less helps most: it would start now, 10m sooner": {smaller, shorter, raised},
		"submit -c 2 helps most: " + by:                                    {smaller},
		"alter --priority high helps most: " + by:                          {smaller, raised},
		none: nil,
	} {
		if got := advice(changes, tried); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := advice(nil, nil); got != "" {
		t.Errorf("without a search: %q", got)
	}
}
