package why_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/why"
)

// TestClockHasTheDay: an instant has its day, unless that is the day of now.
func TestClockHasTheDay(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 32, 0, 0, time.Local)
	for want, at := range map[string]time.Time{
		"21:32":            now,
		"23:59":            now.Add(2*time.Hour + 27*time.Minute),
		"00:00":            now.Add(-21*time.Hour - 32*time.Minute),
		"2026-11-23 00:00": now.Add(2*time.Hour + 28*time.Minute),
		"2026-11-23 03:32": now.Add(6 * time.Hour),
		"2026-11-23 09:32": now.Add(12 * time.Hour),
		"2026-11-21 23:59": now.Add(-21*time.Hour - 33*time.Minute),
		"2025-11-22 21:32": now.AddDate(-1, 0, 0),
	} {
		if got := why.Clock(at, now); got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
}
