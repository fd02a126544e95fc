package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/why"
)

// TestStopInWords: the text of a stop says which pool was below which limit and for how long, which work was lost,
// which pool got the room, and when a stop could happen again.
func TestStopInWords(t *testing.T) {
	at := time.Date(2026, 1, 5, 12, 40, 2, 0, time.Local)
	s := why.Stop{
		At: at, Rule: "min-share", Job: 1019, Attempt: 1, User: "markov", Pool: "physics", Unit: "cpu",
		For: "biology/env", Resource: "cpu", Running: 4, Goal: 8, Since: at.Add(-time.Minute), Owed: 240, Next: 1035,
		From: "physics", FromRunning: 36, FromGoal: 24, Choice: "the newest that could be spared",
		Width: 8, Seconds: 370, Lost: 2960, Safe: at.Add(30 * time.Minute),
	}
	want := "attempt 1 stopped by rule min-share: biology/env had 4 cpu of its minimum 8 for 1m; physics ran 36 cpu, 12 above its entitlement of 24; " +
		"chosen as the newest that could be spared; it ran 6m10s on 8 cpu and lost 0.8 cpu-h; biology/env lacked 240 cpu-s; room for job 1035; " +
		"safe until 13:10:02: no job is stopped twice within 30m"
	if got := s.Line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.Rule, s.Safe = "fair-share", at
	if got := s.Line(); !strings.Contains(got, "of its entitlement 8") ||
		!strings.Contains(got, "there is no grace period") || s.Code() != "stop.reclaim.share" {
		t.Error(got)
	}
	s.Rule, s.For = "rebalance", ""
	if got := s.Line(); !strings.HasPrefix(got, "attempt 1 stopped by rule rebalance: physics ran 36 cpu") ||
		s.Code() != "stop.rebalance" {
		t.Error(got)
	}
	for _, code := range []why.Code{"stop.reclaim.min", "stop.reclaim.share", "stop.rebalance"} {
		if _, known := why.Explain(code); !known {
			t.Errorf("%s is not explained", code)
		}
	}
}
