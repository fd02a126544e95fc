package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

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

// maxForm bounds a posted form, in bytes.
const maxForm = 256 << 10

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
	if err := a.do(r.Context(), d.source, req); err != nil {
		if !errors.Is(err, queue.ErrInvalid) || a.Pool == nil {
			d.fail(w, r, err)
			return
		}
		a.Problem = err.Error() // the form keeps the texts that the user typed
		d.write(w, r, actPage, req, a, api.Status(err))
		return
	}
	a.Done = true
	d.write(w, r, actPage, req, a, a.status())
}

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
	req := api.AlterRequest{Verb: a.Verb}
	if a.Verb == cancelWaiting {
		req.Verb, req.Waiting = "cancel", true
	}
	switch a.Verb {
	case "hold":
		req.Cause = r.Word("reason")
	case "move":
		if req.Pool = r.Word("to"); req.Pool == "" {
			return &queue.Invalid{Field: "to", Msg: "name the pool"}
		}
	case "limit":
		if req.Limit, err = strconv.ParseFloat(r.Word("limit"), 64); err != nil {
			return &queue.Invalid{Field: "limit", Msg: fmt.Sprintf("%.40q is not a number of seconds", r.Word("limit"))}
		}
	}
	if p := a.Priorities; p != nil {
		if p.Chosen == "" {
			return &queue.Invalid{Field: "priority", Msg: "choose one"}
		}
		req.Priority = p.Chosen
	}
	a.keepFormer()
	if a.All != nil {
		return a.doMatching(ctx, src, r, req)
	}
	for _, v := range a.Jobs {
		req.Jobs = append(req.Jobs, v.ID)
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
	if !a.stopsTasks() {
		return nil
	}
	return a.lookAgain(ctx, src)
}
