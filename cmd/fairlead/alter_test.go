package main

import (
	"strings"
	"testing"
	"time"
)

// TestUndoNamesAll checks that the undo command names all jobs, or selects them by the same filter if that is possible.
func TestUndoNamesAll(t *testing.T) {
	many := strings.Fields(strings.Repeat("7 ", maxUndo+1))
	named := strings.Join(many, " ")
	at := time.Date(2026, 1, 5, 8, 0, 0, 0, time.Local)
	mine := selection{user: "ann", pool: "a b", states: []string{"waiting"}}
	cancel := alteration{undo: "fairlead uncancel %s", past: "canceled", state: "cancelled", selection: mine, at: at}
	hold := alteration{undo: "fairlead release %s", past: "held", state: "held"}
	hold.selection.states = []string{"w"}
	for _, c := range []struct {
		x    alteration
		jobs []string
		want string
	}{
		{cancel, many[1:],
			"undo: fairlead uncancel " + named[2:]},
		{cancel, many,
			"undo, including jobs that were canceled in the minute before: " +
				"fairlead uncancel -u ann -A 'a b' -t cancelled --since 2026-01-05T07:59:00"},
		{hold, many,
			"undo, including jobs that were held before: fairlead release -t held"},
		{alteration{undo: "fairlead uncancel %s", state: "cancelled"}, many, "undo: fairlead uncancel " + named},
		{alteration{undo: "fairlead cancel %s", selection: mine}, many, "undo: fairlead cancel " + named},
	} {
		if got := c.x.undoing(c.jobs); got != c.want {
			t.Errorf("of %d jobs chosen by %+v: %.200q, want %.200q", len(c.jobs), c.x.selection, got, c.want)
		}
	}
}
