package words

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/why/room"
)

// TestRoomUntilReserved checks the time for which a node is free before a reservation; a time of less than a
// second is omitted.
func TestRoomUntilReserved(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 32, 0, 0, time.Local)
	for left, want := range map[time.Duration]string{
		5 * time.Minute:        "kept from 21:37:00 for job 7; free for tasks of up to 5m",
		time.Second:            "kept from 21:32:01 for job 7; free for tasks of up to 1.0s",
		400 * time.Millisecond: "kept from 21:32:00 for job 7",
	} {
		n := views.NodeView{State: "up", Free: map[string]int64{"cpu": 2}, Capacity: map[string]int64{"cpu": 2},
			Kept: []room.Kept{{Job: 7, From: now.Add(left)}}}
		if got := whyNotHere(&n, "cpu", now); got != want {
			t.Errorf("%v before: %q, want %q", left, got, want)
		}
	}
}

// TestIdleNodes: a free node says so if no task waits, and otherwise that no waiting task can run on it.
func TestIdleNodes(t *testing.T) {
	for _, c := range []struct {
		free int64
		none bool
		want string
	}{
		{4, true, "idle: no task waits"}, {4, false, "no waiting task can run here"},
		{1, true, "1 cpu free: no task waits"},
		{1, false, "1 cpu free: waiting tasks need more, or are held back"}, {0, true, "all cpu in use"},
	} {
		n := views.NodeView{State: "up", NoneWaits: c.none, Free: map[string]int64{"cpu": c.free},
			Capacity: map[string]int64{"cpu": 4}}
		if got := whyNow(&n, "cpu"); got != c.want {
			t.Errorf("%d free, none waits %v: %q, want %q", c.free, c.none, got, c.want)
		}
	}
}

// TestSilentNodesSaySo: a node whose agent has no connection says so before anything else.
func TestSilentNodesSaySo(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 32, 0, 0, time.Local)
	since := now.Add(-10 * time.Second)
	n := views.NodeView{State: "up", Silent: &since, Capacity: map[string]int64{"cpu": 4}}
	want := "its agent has no connection since 21:31:50; all cpu in use"
	if got := WhyNotMore(&n, "cpu", now); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRunningJobsNameTheirNodes: the text of a running job names its first nodes.
func TestRunningJobsNameTheirNodes(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 32, 0, 0, time.Local)
	since := now.Add(-10 * time.Minute)
	for want, nodes := range map[string][]string{
		"runs 10m, 50m left": nil, "runs 10m on n1, n2, 50m left": {"n1", "n2"},
		"runs 10m on n1, n2, …, 50m left": {"n1", "n2", "n3"},
	} {
		j := api.Job{ID: 7, State: "running"}
		j.LimitSeconds = 3600
		j.RunsSince, j.Nodes = &since, nodes
		if got := WaitingFor(&j, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
