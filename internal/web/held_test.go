package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// TestHeldSpans checks that the events of a job become time spans without gaps, each with the reason of the
// wait.
func TestHeldSpans(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) *time.Time { x := begin.Add(time.Duration(s) * time.Second); return &x }
	event := func(s int, code string) api.Event { return api.Event{At: *at(s), Code: code, Text: "of " + code} }
	for name, c := range map[string]struct {
		job    api.Job
		events []api.Event
		want   []string
	}{
		"waits, and nobody has looked": {api.Job{Tasks: 1}, []api.Event{event(0, "submitted")}, []string{"waits 0-100"}},
		"waits for one thing and another": {
			api.Job{Tasks: 1}, []api.Event{event(0, "submitted"), event(2, "share.behind"), event(50, "capacity.full"), event(60, "capacity.full"), event(70, "share.behind")},
			[]string{"share.behind 0-50", "capacity.full 50-70", "share.behind 70-100"},
		},
		"is behind one that waits for a rate": {
			api.Job{Tasks: 1}, []api.Event{event(0, "submitted"), event(0, "waits"), event(5, "capacity.full"), event(50, "waits"), event(60, "capacity.full")},
			[]string{"waits 0-5", "capacity.full 5-50", "waits 50-60", "capacity.full 60-100"},
		},
		"is held meanwhile": {
			api.Job{Tasks: 1}, []api.Event{event(0, "submitted"), event(0, "gate.rate"), event(10, "hold"), event(15, "share.behind"), event(30, "release"), event(31, "prioritise")},
			[]string{"gate.rate 0-10", "gate.held 10-30", "share.behind 30-100"},
		},
		"has run": {
			api.Job{Tasks: 1, Started: at(20), Ended: at(80)}, []api.Event{event(0, "submitted"), event(0, "gate.rate"), event(20, "started"), event(80, "finished")},
			[]string{"gate.rate 0-20", "state.running 20-80"},
		},
		"was lost, and runs again": {
			api.Job{Tasks: 1, Started: at(20)}, []api.Event{event(0, "submitted"), event(5, "gate.rate"), event(40, "lost"), event(60, "started")},
			[]string{"gate.rate 0-20", "state.running 20-40", "waits 40-60", "state.running 60-100"},
		},
		"was canceled before it ran": {
			api.Job{Tasks: 1, Ended: at(30)}, []api.Event{event(0, "submitted"), event(3, "gate.max"), event(30, "cancel"), event(30, "finished")},
			[]string{"gate.max 0-30"},
		},
		"ran, and waits again": {
			api.Job{Tasks: 1}, []api.Event{event(0, "submitted"), event(30, "requeue"), event(40, "share.behind")},
			[]string{"waits 0-40", "share.behind 40-100"},
		},
		"had ended, and waits again": {
			api.Job{Tasks: 1}, []api.Event{event(0, "submitted"), event(5, "share.behind"), event(20, "started"), event(30, "finished"), event(30, "ended"), event(60, "requeue"), event(60, "capacity.full")},
			[]string{"share.behind 0-20", "state.running 20-30", "capacity.full 60-100"},
		},
		"was canceled, and is brought back": {
			api.Job{Tasks: 1}, []api.Event{event(0, "submitted"), event(5, "share.behind"), event(20, "cancel"), event(20, "ended"), event(60, "uncancel"), event(60, "capacity.full")},
			[]string{"share.behind 0-20", "capacity.full 60-100"},
		},
		"is in another queue": {
			api.Job{Tasks: 1}, []api.Event{event(0, "submitted"), event(10, "queued")}, []string{"waits 0-10", "state.queued 10-100"},
		},
	} {
		if got := spansText(heldSpans(&c.job, c.events, *at(100)), begin); !slices.Equal(got, c.want) {
			t.Errorf("a job that %s: %q, want %q", name, got, c.want)
		}
	}
}

// spansText writes time spans.
func spansText(spans []heldSpan, begin time.Time) (out []string) {
	for _, s := range spans {
		out = append(out, fmt.Sprintf("%s %v-%v", s.Code, s.From.Sub(begin).Seconds(), s.To.Sub(begin).Seconds()))
	}
	return out
}

// TestHeldSpansOfArrays: an array shows why tasks wait, even while others run. If no reason is known, the array counts
// as running while one of its tasks runs, and between two tasks that follow each other.
func TestHeldSpansOfArrays(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) *time.Time { x := begin.Add(time.Duration(s) * time.Second); return &x }
	task := func(s, task int, code string) api.Event { return api.Event{At: *at(s), Task: task, Code: code} }
	event := func(s int, code string) api.Event { return task(s, -1, code) }
	for name, c := range map[string]struct {
		events []api.Event
		want   []string
	}{
		"runs twice": {[]api.Event{
			event(0, "submitted"), event(5, "share.behind"), task(20, 0, "started"), task(25, 1, "started"),
			task(30, 0, "finished"), task(40, 1, "lost"), event(50, "capacity.full"), task(70, 2, "started"),
		}, []string{"share.behind 0-50", "capacity.full 50-70", "state.running 70-100"}},
		"runs task by task": {[]api.Event{event(0, "submitted"), task(20, 0, "started"), task(40, 0, "finished"),
			event(41, "share.behind"), task(42, 1, "started"), task(60, 1, "finished"), task(70, 2, "started")},
			[]string{"waits 0-20", "state.running 20-41", "share.behind 41-70", "state.running 70-100"}},
		"is canceled while a task runs": {
			[]api.Event{event(0, "submitted"), event(5, "share.behind"), task(20, 0, "started"), event(60, "cancel")},
			[]string{"share.behind 0-60", "state.running 60-100"}},
		"has no record of its first attempt": {
			[]api.Event{event(0, "submitted"), task(60, 1, "started"), task(80, 1, "finished")},
			[]string{"waits 0-20", "state.running 20-80", "waits 80-100"}},
	} {
		job := api.Job{Tasks: 3, Started: at(20)}
		if got := spansText(heldSpans(&job, c.events, *at(100)), begin); !slices.Equal(got, c.want) {
			t.Errorf("an array that %s: %q, want %q", name, got, c.want)
		}
	}
}

// TestHeldListIsBounded checks that the list has a bounded number of lines after any number of changes, and
// that the sums cover all changes.
func TestHeldListIsBounded(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	events := []api.Event{{At: begin, Code: "submitted"}}
	for i := range 300 {
		events = append(events, api.Event{At: begin.Add(time.Duration(i) * time.Minute), Code: []string{"share.behind", "capacity.full", "gate.rate"}[i%3]})
	}
	l := heldOf(&api.Job{Tasks: 1}, events, begin.Add(300*time.Minute))
	if len(l.Spans) != heldRows || l.More != 300-heldRows || len(l.Sums) != 3 {
		t.Fatalf("%d lines, %d more, %d sums", len(l.Spans), l.More, len(l.Sums))
	}
	for _, s := range l.Sums {
		if s.Times != 100 || s.Seconds != 6000 || s.Part < 0.333 || s.Part > 0.334 || s.Says == "" {
			t.Errorf("%+v", s)
		}
	}
	if l := heldOf(&api.Job{Tasks: 1}, nil, begin); l.Picture != nil || l.Spans != nil {
		t.Errorf("of nothing: %+v", l)
	}
}

// TestJobThatStartsAtOnceWaitsForNothing checks that the moment between the submission and the start of a job is no
// wait without a record of its reason.
func TestJobThatStartsAtOnceWaitsForNothing(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	started := begin.Add(300 * time.Millisecond)
	events := []api.Event{{At: begin, Code: "submitted"}, {At: started, Code: "started"}}
	spans := heldSpans(&api.Job{Tasks: 1, Started: &started}, events, begin.Add(time.Minute))
	if len(spans) != 1 || spans[0].Code != "state.running" {
		t.Errorf("it waited: %+v", spans)
	}
}
