package words

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/why/room"
)

// TestRoomUntilReserved checks the time for which a node is free before a reservation; a time of less than a
// second is omitted.
func TestRoomUntilReserved(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 32, 0, 0, time.Local)
	for left, want := range map[time.Duration]string{
		5 * time.Minute:        "reserved from 21:37:00 for job 7; 5m window open",
		time.Second:            "reserved from 21:32:01 for job 7; 1.0s window open",
		400 * time.Millisecond: "reserved from 21:32:00 for job 7",
	} {
		n := views.NodeView{State: "up", Free: map[string]int64{"cpu": 2}, Capacity: map[string]int64{"cpu": 2},
			Kept: []room.Kept{{Job: 7, From: now.Add(left)}}}
		if got := whyNotHere(&n, "cpu", now); got != want {
			t.Errorf("%v before: %q, want %q", left, got, want)
		}
	}
}
