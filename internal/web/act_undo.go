package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// undoing says how an action can be undone.
type undoing struct {
	Undo string    // the verb that undoes it; empty: none does
	Ways []wayBack // one for the jobs that had the same values before
	// MoreWays counts the ways back that are not offered, because there are too many.
	MoreWays int
	formers  []api.Job // the jobs before the action, if it sets values of jobs
}

// maxAct bounds the jobs of one action.
const maxAct = 1000

// maxWays bounds the ways back on one page.
const maxWays = 10

// wayBack is the way to give some jobs back what an action changed.
type wayBack struct {
	Verb   string
	Values []formerValue
	Jobs   []int64
}

// formerValue is the value of a field of jobs before an action.
type formerValue struct {
	*jobField
	Value string // as in the form
}

// jobField is a field of jobs that an action sets.
type jobField struct {
	Name        string // of the field in the form
	flag, label string // of fairlead alter, and on the page
	of          func(j *api.Job) string
	words       func(value string) string
	typed       func(value string) string // in a shell
}

func priorityOf(j *api.Job) string { return j.Priority }

func poolOf(j *api.Job) string { return j.Pool }

func unchanged(value string) string { return value }

var (
	priorityField = &jobField{"priority", "--priority", "priority", priorityOf, unchanged, unchanged}
	poolField     = &jobField{"to", "--move-to", "pool", poolOf, words.Pool, words.ShellPool}
	limitField    = &jobField{"limit", "--time", "limit", formerLimit, limitText, limitTyped}
)

// setFields are the fields that an action sets, by its verb. The new pool of a job may have a default time limit.
var setFields = map[string][]*jobField{
	"prioritise": {priorityField}, "move": {poolField, limitField}, "limit": {limitField},
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

// remember keeps a job as it is before an action that sets values. It keeps no more jobs than one action can undo.
func (u *undoing) remember(verb string, j *api.Job) {
	if setFields[verb] != nil && len(u.formers) <= maxAct {
		u.formers = append(u.formers, *j)
	}
}

// findWays finds the ways back for the jobs that an action changed, and describes the changes of each job.
func (u *undoing) findWays(
	ctx context.Context, src Source, verb string, did []int64,
) (changed map[int64]string, err error) {
	if u.Undo == "" || len(did) == 0 {
		return nil, nil
	}
	if setFields[verb] == nil {
		u.Ways = []wayBack{{Verb: u.Undo, Jobs: did}}
		return nil, nil
	}
	list, err := src.Jobs.List(ctx, queue.Query{IDs: did, Limit: len(did)}, JobOptions{})
	if err != nil {
		return nil, err
	}
	now := map[int64]*api.Job{}
	for i := range list.Jobs {
		now[list.Jobs[i].ID] = &list.Jobs[i]
	}
	changed = map[int64]string{}
	for i := range u.formers {
		if was := &u.formers[i]; now[was.ID] != nil {
			changed[was.ID] = u.wayBackFor(verb, was, now[was.ID])
		}
	}
	u.MoreWays = max(0, len(u.Ways)-maxWays)
	u.Ways = u.Ways[:min(len(u.Ways), maxWays)]
	return changed, nil
}

// wayBackFor adds the way back of a job, and describes the changes. Jobs with the same former values share a way.
func (u *undoing) wayBackFor(verb string, was, now *api.Job) string {
	var former []formerValue
	var changes []string
	for _, f := range setFields[verb] {
		if before, after := f.of(was), f.of(now); before != after {
			former = append(former, formerValue{f, before})
			changes = append(changes, f.label+" "+f.words(before)+" → "+f.words(after))
		}
	}
	if len(former) == 0 {
		return ""
	}
	if former[0].jobField != setFields[verb][0] { // the form of a move names a pool
		former = append([]formerValue{{setFields[verb][0], setFields[verb][0].of(was)}}, former...)
	}
	at := slices.IndexFunc(u.Ways, func(w wayBack) bool { return slices.Equal(w.Values, former) })
	if at < 0 {
		at = len(u.Ways)
		u.Ways = append(u.Ways, wayBack{Verb: u.Undo, Values: former})
	}
	u.Ways[at].Jobs = append(u.Ways[at].Jobs, was.ID)
	return strings.Join(changes, ", ")
}

// Says names the way back on its button.
func (w *wayBack) Says() string {
	if len(w.Values) == 0 {
		return w.Verb
	}
	var says []string
	for _, v := range w.Values {
		says = append(says, v.label+" "+v.words(v.Value))
	}
	return strings.Join(says, ", ")
}

// Command returns the command that goes the way back.
func (w *wayBack) Command() string {
	var b strings.Builder
	if b.WriteString("fairlead " + w.Verb); len(w.Values) > 0 {
		b.Reset()
		b.WriteString("fairlead alter")
	}
	for _, v := range w.Values {
		b.WriteString(" " + v.flag + " " + v.typed(v.Value))
	}
	for _, id := range w.Jobs {
		fmt.Fprint(&b, " ", id)
	}
	return b.String()
}
