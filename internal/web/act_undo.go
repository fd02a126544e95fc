package web

import (
	"fmt"
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
	"move":       {"to", "--pool", "move to", func(j *api.Job) string { return j.Pool }, words.Pool, words.ShellPool},
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

// keepFormer records the former value of the jobs that the user may change. If their values differ, each job would
// need a value of its own, and the action cannot be undone.
func (a *Act) keepFormer() {
	set, sets := setters[a.Verb]
	if !sets {
		return
	}
	for i := range a.Jobs {
		v := &a.Jobs[i]
		if !v.May {
			continue
		}
		if value := set.of(v.Job); a.Was == "" {
			a.Was = value
		} else if a.Was != value {
			a.Was, a.Undo = "", ""
			return
		}
	}
}

// UndoField is the field of the form that holds the former value, or empty.
func (a *Act) UndoField() string { return setters[a.Undo].field }

// UndoSays names the way back on its button.
func (a *Act) UndoSays() string {
	if set, sets := setters[a.Undo]; sets {
		return set.says + " " + set.words(a.Was)
	}
	return a.Undo
}

// UndoCommand returns the command that undoes the action.
func (a *Act) UndoCommand() string {
	var b strings.Builder
	if set, sets := setters[a.Undo]; sets {
		b.WriteString("fairlead alter " + set.flag + " " + set.typed(a.Was))
	} else {
		b.WriteString("fairlead " + a.Undo)
	}
	for _, id := range a.Did {
		fmt.Fprint(&b, " ", id)
	}
	return b.String()
}
