package instant_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
)

// TestClockHasTheDay checks that an instant shows its day, unless that is the day of now.
func TestClockHasTheDay(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 32, 0, 0, time.Local)
	for want, at := range map[string]time.Time{
		"21:32:00":         now,
		"21:41:59":         now.Add(10*time.Minute - time.Second),
		"21:42":            now.Add(10 * time.Minute),
		"23:59":            now.Add(2*time.Hour + 27*time.Minute),
		"00:00":            now.Add(-21*time.Hour - 32*time.Minute),
		"2026-11-23 00:00": now.Add(2*time.Hour + 28*time.Minute),
		"2026-11-23 03:32": now.Add(6 * time.Hour),
		"2026-11-23 09:32": now.Add(12 * time.Hour),
		"2026-11-21 23:59": now.Add(-21*time.Hour - 33*time.Minute),
		"2025-11-22 21:32": now.AddDate(-1, 0, 0),
	} {
		if got := instant.Clock(at, now); got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
}

// TestClocksTellInstantsApart checks that two instants of one minute show their seconds.
func TestClocksTellInstantsApart(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 32, 0, 0, time.Local)
	for _, c := range []struct {
		after       time.Duration
		first, last string
	}{
		{0, "22:06", "22:06"}, {time.Millisecond, "22:06", "22:06"}, {25 * time.Second, "22:06:20", "22:06:45"},
		{50 * time.Second, "22:06", "22:07"}, {-10 * time.Second, "22:06:20", "22:06:10"},
		{24 * time.Hour, "22:06", "2026-11-23 22:06"},
	} {
		at := time.Date(2026, 11, 22, 22, 6, 20, 0, time.Local)
		other := at.Add(c.after)
		if first, last := instant.Clock(at, now, other), instant.Clock(other, now, at); first != c.first || last != c.last {
			t.Errorf("%v later: %s and %s, want %s and %s", c.after, first, last, c.first, c.last)
		}
	}
}
