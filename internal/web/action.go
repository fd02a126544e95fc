package web

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// Act is an action of a user, before or after it is carried out.
type Act struct {
	Verb, Says, Does string
	Harm             bool
	Jobs             []victim
	All              *everyJob // the jobs, if they are all that match a filter
	// Tasks counts the running tasks to be stopped, Queued the tasks to be taken back from other queueing
	// systems, and Not the jobs that the user may not change. Users holds the owners of the jobs.
	Tasks, Queued, Not int
	Users              []string
	// Pool is the pool of the action. Siblings get a smaller share while it is boosted.
	Pool     *views.PoolView
	Siblings []views.PoolView
	Ends     *engine.Boost // the boost that ends
	// Priorities is set if the action changes priorities.
	Priorities *priorities
	// Below holds the pools below Pool that a pause affects, except More of them.
	Below []views.PoolView
	More  int

	// Done is set after the attempt. Did holds the jobs that were changed; the entries of the others have
	// their errors.
	Done    bool
	Did     []int64
	Ending  int      // tasks of these that must stop first, or are being taken back
	Notes   []string // what the action does besides, or does not reach
	Boosted *api.BoostResponse
	Paused  *api.PauseResponse
	Back    string
	undoing
	typedForm
}

// typedForm is the form of an action as the user typed it.
type typedForm struct {
	Problem error // in it; nil if there is none
	typed   url.Values
	limit   float64 // the new time limit of jobs in seconds; see readLimit
}

func (f *typedForm) refused() error { return f.Problem }

// Typed returns the text of a field: as it was typed, or else its default.
func (f *typedForm) Typed(field, usual string) string {
	if f.typed.Has(field) {
		return f.typed.Get(field)
	}
	return usual
}

// readLimit reads the new time limit of jobs in seconds: -1 is none, and an empty text leaves it to the pool.
func (f *typedForm) readLimit(text string) error {
	if text == "" {
		return nil
	}
	var err error
	f.limit, err = strconv.ParseFloat(text, 64)
	if most := queue.MaxLimit.Seconds(); err != nil || !(f.limit >= -1 && f.limit <= most) {
		return &queue.Invalid{Field: "limit",
			Msg: fmt.Sprintf("%.40q is not a number of seconds from 0 to %.0f, or -1 for none", text, most)}
	}
	return nil
}

// readFactor reads a factor, with or without the x that commands ask for.
func readFactor(text string) (float64, error) {
	return strconv.ParseFloat(strings.TrimPrefix(text, "x"), 64)
}

// Factor returns the factor of a boost, or 0 if it is not a number.
func (a *Act) Factor() float64 {
	f, err := readFactor(a.Typed("factor", usualFactor))
	if a.Verb != "boost" || err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// ShareOf is ShareThen for a sibling.
func (a *Act) ShareOf(sibling int) float64 { return a.ShareThen(&a.Siblings[sibling]) }

// usualFactor is the factor of a boost in an empty form.
const usualFactor = "2"

// ShareThen returns the share of a pool among its siblings while the pool of the action is boosted.
func (a *Act) ShareThen(p *views.PoolView) float64 {
	f := a.Factor()
	all := 1 - a.Pool.ShareHere + a.Pool.ShareHere*f
	if p.Path == a.Pool.Path {
		return p.ShareHere * f / all
	}
	return p.ShareHere / all
}

// Outcome describes in a few words how far the action got.
func (a *Act) Outcome() string {
	switch {
	case a.Boosted != nil || a.Paused != nil:
		return "done"
	case len(a.Did) == 0:
		return "nothing was changed"
	}
	how := "done"
	if a.Ending > 0 {
		how = "under way"
	}
	if all := a.jobs(); len(a.Did) < all {
		how += " for " + grouped(len(a.Did)) + " of " + jobsIn(all)
	} else if a.All != nil {
		how += " for " + jobsIn(all)
	}
	return how
}

// jobs returns the number of jobs that the action is about.
func (a *Act) jobs() int {
	if a.All != nil {
		return a.All.Count
	}
	return len(a.Jobs)
}

// Head is the title of the outcome.
func (a *Act) Head() string { return strings.TrimSuffix(a.Says, " of") }

// Button names the action on its button, with what it changes.
func (a *Act) Button() string {
	switch {
	case a.Priorities != nil:
		return strings.TrimSpace("Set priority " + a.Priorities.Chosen)
	case a.Verb == "limit":
		return "Set limit " + limitWords(a.limit)
	case a.Verb == "move":
		return "Move to " + a.Typed("to", "")
	case a.Verb == "unboost":
		return a.Says
	case a.Pool != nil:
		return a.Says + " pool"
	case len(a.Jobs) == 1:
		return fmt.Sprintf("%s job %d", a.Says, a.Jobs[0].ID)
	case a.All != nil:
		return a.Says + " " + jobsIn(a.All.May())
	}
	return a.Says + " " + jobsIn(len(a.Jobs)-a.Not)
}

// status returns the status of the answer: the status of the first job's error if nothing was changed.
func (a *Act) status() int {
	if a.All != nil && len(a.Did) == 0 {
		return a.All.status
	}
	if a.Boosted == nil && a.Paused == nil && len(a.Did) == 0 && len(a.Jobs) > 0 {
		return api.Status(a.Jobs[0].Error.Err())
	}
	return http.StatusOK
}

// victim is a job that the action affects.
type victim struct {
	*api.Job
	May    bool
	Not    string // the reason if May is false
	Effect string
	Error  *api.Error // of the attempt
	Change string     // the values of the job that changed
	Ending int        // tasks of it that must stop first, or are being taken back
}

// Came describes the result for a job that was changed.
func (v *victim) Came() string {
	switch {
	case v.Change != "":
		return v.Change
	case v.Ending == 0:
		return "done"
	case v.Queued == v.Running:
		return "is being taken back from the other queueing system"
	case v.Tasks == 1:
		return "is being stopped"
	}
	return words.Tasks(int64(v.Ending)) + " must stop first"
}

// action describes a verb and the verb that undoes it.
type action struct {
	name, says, does, undo string
	harm                   bool
}

// acts lists all verbs.
var acts = []action{
	{"hold", "Hold", "Waiting tasks stay until somebody releases the job; running tasks continue.", "release", false},
	{"release", "Release", "Held jobs wait for their turn again.", "hold", false},
	{"requeue", "Requeue", "Running tasks are stopped, and all tasks run again from the start.", "cancel", true},
	{"cancel", "Cancel", "Waiting tasks never start, and running tasks are stopped. If you undo the cancel, waiting tasks wait again, and stopped tasks run again from the start.", "uncancel", true},
	{cancelWaiting, "Cancel waiting tasks of", "Waiting tasks never start. Running tasks continue, and are not retried " +
		"if they fail. If you undo the cancel, the waiting tasks wait again.", "uncancel", true},
	{"uncancel", "Uncancel", "Tasks that waited wait again, and stopped tasks run again from the start. Tasks that had ended do not run again.", "cancel", false},
	{"prioritise", "Priority", "Waiting tasks move forward or back in their pool; running tasks continue.", "prioritise",
		false},
	{"move", "Move", "The waiting job goes to another pool, and keeps its age. If it has no time limit, it gets the " +
		"default limit of that pool. Its past usage stays charged to the old pool.", "move", false},
	{"limit", "Set the time limit of", "The waiting job keeps its place; planned starts are computed again.", "limit",
		false},
	{"boost", "Boost", "The pool gets a higher or lower weight for a time; the boost ends by itself.", "", false},
	{"pause", "Pause", "No new task of the pool or of pools below it starts. Running tasks continue, waiting tasks keep their places, and users can submit jobs. Other pools use its share meanwhile, and the pool gets no compensation.", "resume", false},
	{"resume", "Resume", "Waiting tasks of the pool start again in their turn.", "pause", false},
	{"unboost", "End boost", "The pool gets its own weight back.", "", false},
}

// priorities holds the data of a change of priorities.
type priorities struct {
	// Chosen is the new priority; it is empty while the user chooses.
	Chosen string
	// Order holds the change of the order of starts, and the priorities to choose from.
	Order *api.Reorder
}

// unread notes that the jobs could not be read after they were changed. That is no failure of the action.
func (a *Act) unread(err error) {
	if err != nil {
		a.Notes = append(a.Notes,
			"The change was made, but the server could not read the jobs afterwards: "+err.Error())
	}
}
