package web

import (
	"slices"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// verb is an action on jobs.
type verb struct {
	Name, Says string
	Harm       bool
}

var allVerbs = []verb{{"hold", "Hold", false}, {"release", "Release", false}, {"prioritise", "Priority", false},
	{"uncancel", "Uncancel", false}, {"requeue", "Requeue", true}, {"cancel", "Cancel", true}}

// cancelWaiting is the action that cancels only the waiting tasks of a job.
const cancelWaiting = "cancel-waiting"

// ofWaiting lists the actions that only the page of a job and lists with waiting jobs offer.
var ofWaiting = []verb{{cancelWaiting, "Cancel waiting tasks", true}}

// verbsOf returns the verbs for a list of jobs.
func verbsOf(columns layout) []verb {
	if columns == asWaiting || columns == asAny {
		return slices.Concat(allVerbs, ofWaiting)
	}
	return allVerbs
}

// mayChange reports whether a user may change a job.
func mayChange(j *api.Job, you *You) bool {
	return you.can(access.Alter, access.Object{Owner: j.User, Pool: j.Pool})
}

// mayRelease reports whether a user who may change a job may release it: only administrators may release
// another user's job that an administrator holds.
func mayRelease(j *api.Job, you *You) bool {
	return you.Admin || j.HeldBy == "" || j.HeldBy == j.User || j.HeldBy == you.User
}

// partly reports whether tasks of a job were canceled, but not the job.
func partly(j *api.Job) bool { return !j.Cancel && j.Cancelled > 0 && j.Gang < 2 }

// verbsFor returns the verbs that make sense for a job in its state, for a user who may use them.
func verbsFor(j *api.Job, you *You) []verb {
	if !mayChange(j, you) {
		return nil
	}
	var out []verb
	state := queue.State(j.State)
	for _, v := range slices.Concat(allVerbs, ofWaiting) {
		switch v.Name {
		case "hold":
			if j.Held || state.Ended() || j.Waiting == 0 && state != queue.Blocked {
				continue
			}
		case "release":
			if !j.Held || state.Ended() || !mayRelease(j, you) {
				continue
			}
		case "prioritise":
			if j.Waiting == 0 && state != queue.Held && state != queue.Blocked {
				continue
			}
		case "requeue":
			if state != queue.Queued && state != queue.Running && !state.Ended() {
				continue
			}
		case "uncancel":
			if !j.Cancel && !partly(j) || state.Ended() && j.Cancelled == 0 {
				continue
			}
		case "cancel":
			if j.Cancel || state.Ended() {
				continue
			}
		case cancelWaiting:
			if j.Cancel || j.Waiting == 0 || j.Running == 0 || j.Gang > 1 {
				continue
			}
		}
		out = append(out, v)
	}
	return out
}
