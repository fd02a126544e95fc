package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
)

// actSource is what acts. Each method checks who asks.
type actSource interface {
	// Alter changes jobs, and says what became of each.
	Alter(ctx context.Context, r api.AlterRequest) (*api.AlterResponse, error)
	// Reorder says how the order of starts would change if jobs had another priority.
	Reorder(ctx context.Context, r api.ReorderRequest) (*api.Reorder, error)
	// Boost gives a pool more weight for a time.
	Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error)
	// Boosts are those in force.
	Boosts(ctx context.Context) (*api.Boosts, error)
	// Unboost ends a boost before its time.
	Unboost(ctx context.Context, id int64) (*api.BoostResponse, error)

	pauseSource
}

// actPage asks before something is done, and shows who is hit; the same address, posted to, does it.
var actPage = &Page{Name: "act", Path: "act", Seen: ByUser, Load: loadAct}

// Act is what somebody wants to do, or has done.
type Act struct {
	Verb, Says, Does string
	Harm             bool
	Jobs             []victim
	// Tasks are those that are stopped, Users whose jobs it are, Not how many of the jobs may
	// not be changed by the one who asks.
	Tasks, Not int
	Users      []string
	// Pool is boosted, to the loss of its siblings.
	Pool     *fairlead.PoolView
	Siblings []fairlead.PoolView
	Ends     *fairlead.Boost // the boost that ends
	// Priorities are set if jobs get another one.
	Priorities *priorities
	// Below are the pools in it that a pause hits, without More of them.
	Below []fairlead.PoolView
	More  int

	// Done is set after it was tried. Did are the jobs that were changed; what became of the
	// others stands with them.
	Done    bool
	Did     []int64
	Boosted *api.BoostResponse
	Paused  *api.PauseResponse
	Back    string
	Undo    string // the verb that undoes it
}

// Outcome says in a word or two how far it was done.
func (a *Act) Outcome() string {
	switch {
	case a.Boosted != nil || a.Paused != nil || len(a.Did) == len(a.Jobs):
		return "done"
	case len(a.Did) == 0:
		return "nothing was done"
	}
	return fmt.Sprintf("done for %d of %d jobs", len(a.Did), len(a.Jobs))
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
	for i, id := range a.Did {
		if i == undoShown {
			b.WriteString(" …")
			break
		}
		fmt.Fprint(&b, " ", id)
	}
	return b.String()
}

// undoShown is how many jobs are named in a command.
const undoShown = 10

// victim is a job that is hit.
type victim struct {
	*api.Job
	May    bool
	Effect string
	Error  *api.Error // after it was tried
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
	{"cancel", "Cancel", "What waits never starts, and what runs is stopped. To undo it, requeue: all begins again from the start.", "requeue", true},
	{"prioritise", "Priority", "What waits goes before or behind others of its pool; what runs goes on.", "prioritise", false},
	{"boost", "Boost", "The pool has more weight for a time, or less; it ends by itself.", "", false},
	{"pause", "Pause", "Nothing new of the pool starts, nor of those below it. What runs goes on, what waits keeps its place, and jobs may be submitted. Others get meanwhile what it leaves, and it is owed nothing for the time.", "resume", false},
	{"resume", "Resume", "What waits in the pool starts again, in its turn.", "pause", false},
	{"unboost", "End the boost", "The pool has its own weight again.", "", false},
}

// actMost bounds the jobs of one action.
const actMost = 1000

func loadAct(ctx context.Context, src Source, r *Request) (any, error) {
	a := &Act{Verb: r.Word("verb"), Back: r.Root}
	at := slices.IndexFunc(acts, func(x action) bool { return x.name == a.Verb })
	if at < 0 {
		return nil, &fairlead.Invalid{Field: "verb", Msg: fmt.Sprintf("%.40q is nothing that can be done here", a.Verb)}
	}
	x := acts[at]
	a.Says, a.Does, a.Harm, a.Undo = x.says, x.does, x.harm, x.undo
	switch a.Verb {
	case "boost", "unboost":
		return a, a.aboutPool(ctx, src, r)
	case "pause", "resume":
		return a, a.aboutPause(ctx, src, r)
	}
	if err := a.aboutJobs(ctx, src, r); err != nil || a.Verb != "prioritise" {
		return a, err
	}
	return a, a.aboutOrder(ctx, src, r)
}

// aboutJobs finds the jobs that would be changed.
func (a *Act) aboutJobs(ctx context.Context, src Source, r *Request) error {
	var ids []int64
	for _, text := range r.Query["job"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return &fairlead.Invalid{Field: "job", Msg: fmt.Sprintf("%.40q is not the number of a job", text)}
		}
		ids = append(ids, id)
	}
	switch a.Back += "queue"; {
	case len(ids) == 0:
		return &fairlead.Invalid{Field: "job", Msg: "no job was chosen; tick some in the queue"}
	case len(ids) > actMost:
		return &fairlead.Invalid{Field: "job", Msg: fmt.Sprintf("at most %d jobs at once; for more: fairlead %s -u USER", actMost, a.Verb)}
	case len(ids) == 1:
		a.Back = fmt.Sprint(r.Root, "jobs/", ids[0])
	}
	list, err := src.Jobs(ctx, fairlead.Query{IDs: ids, Limit: len(ids)}, JobOptions{})
	if err != nil {
		return err
	}
	for i := range list.Jobs {
		j := &list.Jobs[i]
		v := victim{Job: j, May: r.You.Admin || r.You.UID >= 0 && r.You.User == j.User}
		v.Effect = effect(a.Verb, j)
		a.Jobs = append(a.Jobs, v)
		switch {
		case !v.May:
			a.Not++
		case a.Harm:
			a.Tasks += j.Running
		}
		if !slices.Contains(a.Users, j.User) {
			a.Users = append(a.Users, j.User)
		}
	}
	if len(a.Jobs) == 0 {
		return missing("there are no such jobs")
	}
	return nil
}

// effect is what a verb does to a job.
func effect(name string, j *api.Job) string {
	ended := fairlead.State(j.State).Ended()
	switch {
	case name == "requeue" && ended:
		return "runs again from the start"
	case ended:
		return "has ended already: nothing changes"
	case name == "requeue" && j.Running > 0:
		return "is stopped, and waits again from the start"
	case name == "cancel" && j.Running > 0:
		return "is stopped; what it did is lost"
	case name == "cancel":
		return "never starts"
	case name == "hold" && j.Waiting == 0 && j.Running > 0:
		return "goes on: it runs already"
	case name == "hold":
		return "waits until it is released"
	case name == "release" && j.Held:
		return "waits for its turn again"
	}
	return "nothing changes"
}

// aboutPool finds the pool that is boosted, and those beside it.
func (a *Act) aboutPool(ctx context.Context, src Source, r *Request) error {
	if !r.You.Admin {
		return fmt.Errorf("only administrators may change shares: %w", fairlead.ErrForbidden)
	}
	path := r.Word("pool")
	if a.Verb == "unboost" {
		var err error
		if a.Ends, err = boostOf(ctx, src, r.Word("id")); err != nil {
			return err
		}
		path = a.Ends.Pool // whatever the address says
	}
	a.Back += "pool?pool=" + url.QueryEscape(path)
	shares, err := src.Shares(ctx, "")
	if err != nil {
		return err
	}
	above := path[:max(0, strings.LastIndexByte(path, '/'))]
	for i := range shares.Pools {
		p := &shares.Pools[i]
		switch {
		case p.Path == path && path != "":
			a.Pool = p
		case p.Path != "" && p.Path[:max(0, strings.LastIndexByte(p.Path, '/'))] == above:
			a.Siblings = append(a.Siblings, *p)
		}
	}
	if a.Pool == nil && a.Ends != nil { // it is idle and nobody configured it
		a.Pool, a.Siblings = &fairlead.PoolView{Path: path}, nil
	}
	if a.Pool == nil {
		return missing("no pool is called %.256q", path)
	}
	return nil
}

// boostOf finds a boost that is in force by its number.
func boostOf(ctx context.Context, src Source, text string) (*fairlead.Boost, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return nil, &fairlead.Invalid{Field: "id", Msg: fmt.Sprintf("%.40q is not the number of a boost", text)}
	}
	all, err := src.Boosts(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all.Boosts, func(b fairlead.Boost) bool { return b.ID == id })
	if at < 0 {
		return nil, missing("no boost %d is in force: it has ended already", id)
	}
	return &all.Boosts[at], nil
}

// maxForm bounds what is posted, in bytes.
const maxForm = 256 << 10

// act does what was asked for. Whether another site sent it was looked at before, for all requests
// that change something.
func (d *Dashboard) act(w http.ResponseWriter, r *http.Request) {
	if err := form(w, r, maxForm); err != nil {
		d.fail(w, r, err)
		return
	}
	req := request(actPage, d.source.You(r.Context()), r)
	req.Query = r.PostForm
	data, err := loadAct(r.Context(), d.source, req)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	a := data.(*Act)
	if err := a.do(r.Context(), d.source, req); err != nil {
		d.fail(w, r, err)
		return
	}
	a.Done = true
	d.write(w, r, actPage, req, a, a.status())
}

// do acts, and notes what came of it.
func (a *Act) do(ctx context.Context, src Source, r *Request) (err error) {
	switch a.Verb {
	case "boost":
		a.Boosted, err = boost(ctx, src, r)
		return err
	case "unboost":
		a.Boosted, err = src.Unboost(ctx, a.Ends.ID)
		return err
	case "pause", "resume":
		return a.pause(ctx, src, r)
	}
	req := api.AlterRequest{Verb: a.Verb}
	if p := a.Priorities; p != nil {
		if p.Chosen == "" {
			return &fairlead.Invalid{Field: "priority", Msg: "none was chosen"}
		}
		if req.Priority = p.Chosen; p.Was == "" || p.Was == p.Chosen {
			a.Undo = "" // each would need its own
		}
	}
	for _, v := range a.Jobs {
		req.Jobs = append(req.Jobs, v.ID)
	}
	out, err := src.Alter(ctx, req)
	if err != nil {
		return err
	}
	for i := range a.Jobs {
		if a.Jobs[i].Error = out.Results[i]; out.Results[i] == nil {
			a.Did = append(a.Did, a.Jobs[i].ID)
		}
	}
	return nil
}

// boost reads what the form says of a boost.
func boost(ctx context.Context, src Source, r *Request) (*api.BoostResponse, error) {
	factor, err := strconv.ParseFloat(r.Word("factor"), 64)
	if err != nil {
		return nil, &fairlead.Invalid{Field: "factor", Msg: fmt.Sprintf("%.40q is not a number", r.Word("factor"))}
	}
	d, err := units.ParseDuration(r.Word("for"))
	if err != nil {
		return nil, &fairlead.Invalid{Field: "for", Msg: err.Error()}
	}
	return src.Boost(ctx, api.BoostRequest{Pool: r.Word("pool"), Factor: factor, ForSeconds: d.Seconds(), Reason: r.Word("reason")})
}
