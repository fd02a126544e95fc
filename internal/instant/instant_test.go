package instant_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
)

// TestByClock checks that a text from one machine shows its instants by the clock of the machine that shows
// it.
func TestByClock(t *testing.T) {
	here := time.Local
	defer func() { time.Local = here }()
	time.Local = time.FixedZone("JST", 9*60*60)
	now := time.Date(2026, 11, 25, 20, 0, 0, 0, time.UTC) // 05:00 on the 26th in Tokyo
	at := func(d time.Duration) string { return instant.Text(now.Add(d).In(time.UTC)) }
	for text, want := range map[string]string{
		"it may begin at " + at(3*time.Hour):                  "it may begin at 08:00",
		"it may begin at " + at(20*time.Hour) + ".":           "it may begin at 2026-11-27 01:00.",
		"pause until " + at(30*time.Second):                   "pause until 05:00:30",
		at(time.Hour) + " to " + at(time.Hour+20*time.Second): "06:00:00 to 06:00:20",
		"nothing":                        "nothing",
		"kept from 2026-02-30T10:00:00Z": "kept from 2026-02-30T10:00:00Z", // no such day
		"x2026-11-25T20:00:00Z, 12026-11-25T20:00:00Zone": "x2026-11-25T20:00:00Z, 12026-11-25T20:00:00Zone",
	} {
		if got := instant.ByClock(text, now); got != want {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
}
