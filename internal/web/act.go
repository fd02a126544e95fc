package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// actPage asks for confirmation before an action and shows the affected jobs or pools; a POST to the same
// address carries the action out.
var actPage = &Page{Name: "act", Path: "act", Seen: ByUser, Load: loadAct}

func loadAct(ctx context.Context, src Source, r *Request) (any, error) {
	a := &Act{Verb: r.Word("verb"), Back: r.Root}
	at := slices.IndexFunc(acts, func(x action) bool { return x.name == a.Verb })
	if at < 0 {
		return nil, &queue.Invalid{Field: "verb", Msg: fmt.Sprintf("%.40q is not a known action", a.Verb)}
	}
	x := acts[at]
	a.typed = r.Query
	a.Says, a.Does, a.Harm, a.Undo = x.says, x.does, x.harm, x.undo
	if err := a.readLimit(r.Word("limit")); err != nil {
		return nil, err
	}
	switch a.Verb {
	case "boost", "unboost":
		return a, a.aboutPool(ctx, src, r)
	case "pause", "resume":
		return a, a.aboutPause(ctx, src, r)
	}
	about := a.aboutJobs
	if r.Query.Has(allParameter) {
		about = a.aboutMatching
	}
	if err := about(ctx, src, r); err != nil || a.Verb != "prioritise" {
		return a, err
	}
	return a, a.aboutOrder(ctx, src, r)
}

// act carries out an action. The server has already refused requests from other sites; it does so for all
// requests that change something.
func (d *Dashboard) act(w http.ResponseWriter, r *http.Request) {
	if err := form(w, r, maxForm); err != nil {
		d.fail(w, r, err)
		return
	}
	req := request(actPage, d.you(r.Context()), r)
	req.Query, req.Posted = r.PostForm, true
	data, err := loadAct(r.Context(), d.source, req)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	a := data.(*Act)
	switch err := a.do(r.Context(), d.source, req); {
	case errors.Is(err, queue.ErrInvalid) && a.hasFields() && len(a.Did) == 0:
		a.Problem = err // the form keeps the texts that the user typed
		d.write(w, r, actPage, req, a, statusOf(a))
	case err != nil:
		d.fail(w, r, err)
	default:
		a.Done = true
		d.write(w, r, actPage, req, a, a.status())
	}
}

// hasFields reports whether the user fills in fields of the form.
func (a *Act) hasFields() bool { return slices.Contains([]string{"boost", "pause", "hold"}, a.Verb) }

// do carries out the action and records the result.
func (a *Act) do(ctx context.Context, src Source, r *Request) (err error) {
	switch a.Verb {
	case "boost":
		a.Boosted, err = boost(ctx, src, r)
		return err
	case "unboost":
		a.Boosted, err = src.Pools.Unboost(ctx, a.Ends.ID)
		return err
	case "pause", "resume":
		return a.pause(ctx, src, r)
	}
	req, err := a.request(r)
	if err != nil {
		return err
	}
	if a.All != nil {
		err = a.doMatching(ctx, src, r, req)
	} else {
		err = a.doJobs(ctx, src, req)
	}
	if err != nil {
		return err
	}
	changed, err := a.findWays(ctx, src, a.Verb, a.Did)
	a.unread(err)
	for i := range a.Jobs {
		a.Jobs[i].Change = changed[a.Jobs[i].ID]
	}
	return nil
}

// request returns the change that the form asks for.
func (a *Act) request(r *Request) (req api.AlterRequest, err error) {
	switch req.Verb = a.Verb; a.Verb {
	case cancelWaiting:
		req.Verb, req.Waiting = "cancel", true
	case "hold":
		req.Cause = r.Word("reason")
	case "prioritise":
		if req.Priority = a.Priorities.Chosen; req.Priority == "" {
			return req, &queue.Invalid{Field: "priority", Msg: "choose one"}
		}
	case "move":
		if req.Pool = r.Word("to"); req.Pool == "" {
			return req, &queue.Invalid{Field: "to", Msg: "name the pool"}
		}
		req.Limit = a.limit // of the way back; else the pool decides
	case "limit":
		if r.Word("limit") == "" {
			return req, &queue.Invalid{Field: "limit", Msg: "give a number of seconds"}
		}
		req.Limit = a.limit
	}
	return req, nil
}

// doJobs carries out the action on the jobs that were selected by number.
func (a *Act) doJobs(ctx context.Context, src Source, req api.AlterRequest) error {
	for _, v := range a.Jobs {
		req.Jobs = append(req.Jobs, v.ID)
		a.remember(a.Verb, v.Job)
	}
	out, err := src.Jobs.Alter(ctx, req)
	if err != nil {
		return err
	}
	a.Notes = out.Notes
	for i := range a.Jobs {
		if a.Jobs[i].Error = out.Results[i]; out.Results[i] == nil {
			a.Did = append(a.Did, a.Jobs[i].ID)
		}
	}
	if a.stopsTasks() {
		a.unread(a.lookAgain(ctx, src))
	}
	return nil
}
