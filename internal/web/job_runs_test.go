package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
)

// TestRunsOf checks the picture of a job's tasks over time: a task waits from the submission to its start, and again
// after a lost attempt or a requeue, but not while its job had ended.
func TestRunsOf(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) *time.Time { x := begin.Add(time.Duration(s) * time.Second); return &x }
	event := func(s, task int, code, text string) api.Event {
		return api.Event{At: *at(s), Task: task, Code: code, Text: text}
	}
	submitted := event(0, -1, "submitted", "by ann")
	for name, c := range map[string]struct {
		ended  *time.Time
		events []api.Event
		want   []string
	}{
		"runs": {nil, []api.Event{submitted, event(20, 0, "started", "attempt 1 on n1")},
			[]string{"waits 0-20 ", "runs 20-100 attempt 1"}},
		"was lost, and waits": {nil, []api.Event{submitted, event(20, 0, "started", "attempt 1 on n1"),
			event(40, 0, "lost", "attempt 1"), event(30, 1, "started", "task 1: attempt 7 on n1")},
			[]string{"waits 0-20 ", "runs 20-40 attempt 1", "waits 40-100 "}},
		"was lost, and ran": {at(90), []api.Event{submitted, event(20, 0, "started", "attempt 1 on n1"),
			event(40, 0, "lost", "attempt 1"), event(50, 0, "started", "task 0: attempt 2 on n1"),
			event(90, 0, "finished", "succeeded"), event(90, -1, "ended", "succeeded")},
			[]string{"waits 0-20 ", "runs 20-40 attempt 1", "waits 40-50 ", "runs 50-90 attempt 2"}},
		"failed, and waits again": {nil, []api.Event{submitted, event(20, 0, "started", "attempt 1 on n1"),
			event(30, 0, "finished", "failed"), event(30, -1, "ended", "failed"), event(60, -1, "requeue", "by ann")},
			[]string{"waits 0-20 ", "runs 20-30 attempt 1", "waits 60-100 "}},
		"was canceled and brought back": {nil, []api.Event{submitted, event(30, -1, "ended", "cancelled"),
			event(60, -1, "uncancel", "by ann"), event(80, 0, "started", "attempt 1 on n1")},
			[]string{"waits 0-30 ", "waits 60-80 ", "runs 80-100 attempt 1"}},
		"is in another queue": {nil, []api.Event{submitted, event(10, 0, "queued", "attempt 1 at bridge"),
			event(50, 0, "started", "attempt 1 on x")},
			[]string{"waits 0-10 ", "waits 10-50 queued", "runs 50-100 attempt 1"}},
	} {
		j := &api.Job{Tasks: 1, Submitted: begin, Ended: c.ended}
		var got []string
		for _, b := range runsOf(j, []api.Task{{Node: "n1"}}, c.events, *at(100)).(plot.Gantt).Boxes {
			got = append(got, fmt.Sprintf("%s %v-%v %s", b.Key, b.From, b.To, b.Label))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("a task that %s: %q, want %q", name, got, c.want)
		}
	}
}
