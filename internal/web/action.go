package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
)

// Act is what somebody wants to do, or has done.
type Act struct {
	Verb, Says, Does string
	Harm             bool
	Jobs             []victim
	// Tasks is the number of running tasks that are stopped, Queued of tasks taken back from other
	// queueing systems, Users the owners of the jobs, Not the number of jobs that the user may not change.
	Tasks, Queued, Not int
	Users              []string
	// Pool is boosted, to the loss of its siblings.
	Pool     *views.PoolView
	Siblings []views.PoolView
	Ends     *engine.Boost // the boost that ends
	// Priorities are set if jobs get another one.
	Priorities *priorities
	// Below are the pools in it that a pause hits, without More of them.
	Below []views.PoolView
	More  int

	// Done is set after it was tried. Did are the jobs that were changed; what became of the
	// others stands with them.
	Done    bool
	Did     []int64
	Ending  int // tasks of these that have to stop first, or to come back
	Boosted *api.BoostResponse
	Paused  *api.PauseResponse
	Back    string
	Undo    string // the verb that undoes it
}

// Outcome says in a word or two how far it was done.
func (a *Act) Outcome() string {
	switch {
	case a.Boosted != nil || a.Paused != nil:
		return "done"
	case len(a.Did) == 0:
		return "nothing was done"
	}
	how := "done"
	if a.Ending > 0 {
		how = "under way"
	}
	if len(a.Did) < len(a.Jobs) {
		how += fmt.Sprintf(" for %d of %d jobs", len(a.Did), len(a.Jobs))
	}
	return how
}

// status is that of the answer: if nothing was done, that of why.
func (a *Act) status() int {
	if a.Boosted == nil && a.Paused == nil && len(a.Did) == 0 && len(a.Jobs) > 0 {
		return api.Status(a.Jobs[0].Error.Err())
	}
	return http.StatusOK
}

// UndoCommand is how to undo it at the terminal.
func (a *Act) UndoCommand() string {
	var b strings.Builder
	if a.Priorities != nil {
		b.WriteString("fairlead alter --priority " + a.Priorities.Was)
	} else {
		b.WriteString("fairlead " + a.Undo)
	}
	for _, id := range a.Did {
		fmt.Fprint(&b, " ", id)
	}
	return b.String()
}

// victim is a job that is hit.
type victim struct {
	*api.Job
	May    bool
	Not    string // why not, if not
	Effect string
	Error  *api.Error // after it was tried
	Ending int        // tasks of it that have to stop then, or to come back
}

// Came says what came of it for a job that was changed.
func (v *victim) Came() string {
	switch {
	case v.Ending == 0:
		return "done"
	case v.Queued == v.Running:
		return "is being taken back from the other queueing system"
	case v.Tasks == 1:
		return "is being stopped"
	}
	return fmt.Sprintf("of its tasks %d must stop first", v.Ending)
}

// action is what a verb does, and which one undoes it.
type action struct {
	name, says, does, undo string
	harm                   bool
}

// acts are all verbs.
var acts = []action{
	{"hold", "Hold", "What waits stays where it is until somebody releases it; what runs goes on.", "release", false},
	{"release", "Release", "What was held waits for its turn again.", "hold", false},
	{"requeue", "Requeue", "What runs is stopped, and everything begins again from the start.", "cancel", true},
	{"cancel", "Cancel", "What waits never starts, and what runs is stopped. If it is undone, what waited waits again, and what was stopped begins again from the start.", "uncancel", true},
	{"uncancel", "Undo the cancel", "What waited when it was cancelled waits again, and what was stopped begins again from the start. What had ended stays as it is.", "cancel", false},
	{"prioritise", "Priority", "What waits goes before or behind others of its pool; what runs goes on.", "prioritise",
		false},
	{"boost", "Boost", "The pool has more weight for a time, or less; it ends by itself.", "", false},
	{"pause", "Pause", "Nothing new of the pool starts, nor of those below it. What runs goes on, what waits keeps its place, and jobs may be submitted. Others get meanwhile what it leaves, and it is owed nothing for the time.", "resume", false},
	{"resume", "Resume", "What waits in the pool starts again, in its turn.", "pause", false},
	{"unboost", "End the boost", "The pool has its own weight again.", "", false},
}

// maxAct bounds the jobs of one action.
const maxAct = 1000

// priorities are what an action needs to know of them.
type priorities struct {
	// Chosen is what the jobs are to have; empty while that is asked.
	Chosen string
	// Order is how the order of starts would change, and what priorities there are.
	Order *api.Reorder
	// Was is what all of them had before; empty if they differ.
	Was string
}
