package units

import (
	"strings"
	"testing"
	"time"
)

// TestInstants reads times as people write them, on a Wednesday at noon.
func TestInstants(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"now": "2026-03-04 12:00", "2d": "2026-03-06 12:00", "90m": "2026-03-04 13:30", "16:00": "2026-03-04 16:00", "11:59": "2026-03-05 11:59",
		"tomorrow": "2026-03-05 00:00", "midnight": "2026-03-05 00:00", "noon": "2026-03-05 12:00", "now+2hours": "2026-03-04 14:00",
		"tomorrow 08:00": "2026-03-05 08:00", "today 18:30": "2026-03-04 18:30",
		"2026-12-24": "2026-12-24 00:00", "2026-12-24T08:00": "2026-12-24 08:00", "2026-12-24T08:00:00+02:00": "2026-12-24 06:00",
	} {
		got, err := ParseStart(text, now)
		if err != nil || got.UTC().Format("2006-01-02 15:04") != want {
			t.Errorf("%q begins at %v (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "whenever", "25:00", "-2h", "2026-13-01", "tomorrow noon", "today 25:00"} {
		if got, err := ParseStart(text, now); err == nil {
			t.Errorf("%q begins at %v", text, got)
		}
	}
}

// TestPast reads times in the past, on the same day. A period ends now if its end has not come yet.
func TestPast(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2h": "2026-03-04 10:00", "-2h": "2026-03-04 10:00", "now": "2026-03-04 12:00",
		"16:00": "2026-03-03 16:00", "11:00": "2026-03-04 11:00", "12:00": "2026-03-04 12:00", "noon": "2026-03-04 12:00",
		"midnight": "2026-03-04 00:00", "2026-03-04": "2026-03-04 00:00", "2026-03-04T11:59": "2026-03-04 11:59",
	} {
		for name, parse := range map[string]func(string, time.Time) (time.Time, error){"past": ParsePast, "end": ParseEnd} {
			got, err := parse(text, now)
			if err != nil || got.Format("2006-01-02 15:04") != want {
				t.Errorf("%s: %q was %v (%v), want %s", name, text, got, err, want)
			}
		}
	}
	for _, text := range []string{"2026-03-05", "2026-03-04T20:00", "tomorrow", "today 18:30", "+2h"} {
		if got, err := ParsePast(text, now); err == nil ||
			!strings.Contains(err.Error(), "is in the future: it is 2026-03-04T12:00 now") {
			t.Errorf("%q was %v (%v)", text, got, err)
		}
		if got, err := ParseEnd(text, now); err != nil || !got.Equal(now) {
			t.Errorf("a period that ends %q ends %v (%v), want now", text, got, err)
		}
	}
	for _, text := range []string{"", "abc", "+x", "25:00"} {
		if _, err := ParsePast(text, now); err == nil || strings.Contains(err.Error(), "tomorrow") || !strings.Contains(err.Error(), "30d") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
