package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/words"
)

// undoing says how an action can be undone.
type undoing struct {
	Undo string // the verb that undoes it; empty: none does
	Was  string // the former value of the jobs, where the verb sets one
}

// setter is an action that gives jobs another value, so that it is undone by the former value.
type setter struct {
	field string // of the form
	flag  string // of fairlead alter
	says  string
	of    func(j *api.Job) string   // the value of a job, as in the form
	words func(value string) string // on the button
	typed func(value string) string // in a shell
}

var asIs = func(value string) string { return value }

// setters are these actions, by their verbs.
var setters = map[string]setter{
	"prioritise": {"priority", "--priority", "priority", func(j *api.Job) string { return j.Priority }, asIs, asIs},
	"move":       {"to", "--move-to", "move to", func(j *api.Job) string { return j.Pool }, words.Pool, words.ShellPool},
	"limit":      {"limit", "--time", "limit", formerLimit, limitText, limitTyped},
}

// formerLimit is the time limit of a job in seconds; -1 is none.
func formerLimit(j *api.Job) string {
	if j.LimitSeconds == 0 {
		return "-1"
	}
	return strconv.FormatFloat(j.LimitSeconds, 'f', -1, 64)
}

// limitText writes a time limit in seconds as a person would.
func limitText(seconds string) string {
	s, _ := strconv.ParseFloat(seconds, 64)
	return limitWords(s)
}

// limitTyped writes it as an argument of the command line.
func limitTyped(seconds string) string {
	if seconds == "-1" {
		return "unlimited"
	}
	return limitText(seconds)
}

// keepFormer records the former values of the jobs. If they differ, each job would need a value of its own; if they are
// the new value, nothing changes: then the action cannot be undone.
func (u *undoing) keepFormer(values []string, next string) {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	if len(values) == 1 && values[0] != next {
		u.Was = values[0]
	} else {
		u.Undo = ""
	}
}

// UndoField is the field of the form that holds the former value, or empty.
func (u *undoing) UndoField() string { return setters[u.Undo].field }

// UndoSays names the way back on its button.
func (u *undoing) UndoSays() string {
	if set, sets := setters[u.Undo]; sets {
		return set.says + " " + set.words(u.Was)
	}
	return u.Undo
}

// command returns the command that undoes the action for some jobs.
func (u *undoing) command(jobs []int64) string {
	var b strings.Builder
	if set, sets := setters[u.Undo]; sets {
		b.WriteString("fairlead alter " + set.flag + " " + set.typed(u.Was))
	} else {
		b.WriteString("fairlead " + u.Undo)
	}
	for _, id := range jobs {
		fmt.Fprint(&b, " ", id)
	}
	return b.String()
}
