package main

import (
	"strings"
	"testing"
)

// TestUndoNamesAll checks that the undo command names all jobs, or selects them again where that is possible.
func TestUndoNamesAll(t *testing.T) {
	many := strings.Fields(strings.Repeat("7 ", maxUndo+1))
	named := strings.Join(many, " ")
	mine := selection{user: "ann", pool: "a b", states: []string{"waiting"}}
	for _, c := range []struct {
		x    alteration
		jobs []string
		want string
	}{
		{alteration{undo: "fairlead uncancel %s", state: "cancelled", selection: mine}, many[1:], "undo: fairlead uncancel " + named[2:]},
		{alteration{undo: "fairlead uncancel %s", state: "cancelled", selection: mine}, many, "undo, including jobs that were cancelled before: fairlead uncancel -u ann -A 'a b' -t cancelled"},
		{alteration{undo: "fairlead release %s", state: "held", selection: selection{states: []string{"w"}}}, many, "undo, including jobs that were held before: fairlead release -t held"},
		{alteration{undo: "fairlead uncancel %s", state: "cancelled"}, many, "undo: fairlead uncancel " + named},
		{alteration{undo: "fairlead cancel %s", selection: mine}, many, "undo: fairlead cancel " + named},
	} {
		if got := c.x.undoing(c.jobs); got != c.want {
			t.Errorf("of %d jobs chosen by %+v: %.200q, want %.200q", len(c.jobs), c.x.selection, got, c.want)
		}
	}
}
