package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// allParameter says that an action is about all jobs that match the filter, in place of the jobs by number.
const allParameter = "all"

// maxMatched bounds the jobs that one request changes; the page then offers to continue. Tests make it smaller.
var maxMatched = 20_000

// aboutMatching finds the jobs that match the filter of the request. Before the action it counts them all.
func (a *Act) aboutMatching(ctx context.Context, src Source, r *Request) error {
	q := &Queue{Now: time.Now()}
	number := func(name string) (n int64, err error) {
		if text := r.Word(name); text != "" {
			if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
				return 0, &queue.Invalid{Field: name, Msg: fmt.Sprintf("%.40q is not a job number", text)}
			}
		}
		return n, nil
	}
	m := &everyJob{Text: r.Word("q"), Cause: r.Word("reason")}
	var err error
	if r.Posted {
		if q.Now, err = time.Parse(time.RFC3339Nano, r.Word("at")); err != nil || r.Word("upto") == "" {
			return &queue.Invalid{Field: "at", Msg: "the confirmation is missing; select the jobs in the queue again"}
		}
		if m.Upto, err = number("upto"); err != nil {
			return err
		}
		if m.After, err = number("after"); err != nil {
			return err
		}
	}
	q.asked(r)
	if err := q.Filter.err(); err != nil {
		return err
	}
	at := slices.IndexFunc(q.Tabs, func(t tab) bool { return t.On })
	m.List, m.Says, m.At = q.Tab, q.Tabs[at].Says, q.Now
	m.find = finder{ctx: ctx, src: src, filter: &q.Filter}
	a.All, a.Back = m, r.Root+queuePath+"?"+url.Values{"list": {m.List}, "q": {m.Text}}.Encode()
	if r.Posted {
		return nil
	}
	newest, err := src.Jobs.List(ctx, queue.Query{Newest: true, Limit: 1}, JobOptions{})
	if err != nil {
		return err
	}
	if len(newest.Jobs) > 0 {
		m.Upto = newest.Jobs[0].ID
	}
	return a.countMatching(r)
}

// countMatching counts the jobs of the action before it is carried out.
func (a *Act) countMatching(r *Request) error {
	m := a.All
	err := m.scan(func(jobs []api.Job, _ int64) (bool, error) {
		for i := range jobs {
			j := &jobs[i]
			m.count(j)
			not := a.forbids(j, &r.You)
			if m.Effects.add(cmp.Or(not, effect(a.Verb, j))); not != "" {
				m.Not++
				continue
			}
			if len(m.some) < maxAct {
				m.some = append(m.some, j.ID)
			}
			a.stops(j)
		}
		return true, nil
	})
	if err == nil && m.Count == 0 {
		return missing("no job matches the filter any more")
	}
	m.sorted()
	return err
}

// doMatching carries out the action on the jobs that match, some jobs at a time.
func (a *Act) doMatching(ctx context.Context, src Source, r *Request, req api.AlterRequest) error {
	m, before := a.All, a.All.After
	err := m.scan(func(jobs []api.Job, last int64) (bool, error) {
		if len(jobs) > 0 && m.Count >= maxMatched {
			m.Next = before
			return false, nil
		}
		before = last
		return true, a.doSome(ctx, src, &r.You, jobs, req)
	})
	if m.sorted(); len(a.Did) > maxAct || m.Next > 0 || m.After > 0 {
		a.Undo = ""
	}
	if err == nil && m.Count == 0 {
		return missing("no job matches the filter any more")
	}
	return err
}

// doSome carries out the action on some jobs, as far as the user may change them.
func (a *Act) doSome(ctx context.Context, src Source, you *You, jobs []api.Job, req api.AlterRequest) error {
	m := a.All
	left := func(reason string, status int) {
		m.Not++
		m.Left.add(reason)
		m.status = cmp.Or(m.status, status)
	}
	var tried []*api.Job
	req.Jobs = nil
	for i := range jobs {
		j := &jobs[i]
		m.count(j)
		if not := a.forbids(j, you); not != "" {
			left(not, http.StatusForbidden)
			continue
		}
		req.Jobs, tried = append(req.Jobs, j.ID), append(tried, j)
		a.remember(a.Verb, j)
	}
	if len(tried) == 0 {
		return nil
	}
	out, err := src.Jobs.Alter(ctx, req)
	if err != nil {
		return err
	}
	a.Notes = append(a.Notes, out.Notes...)
	var ran []int64
	for i, j := range tried {
		if e := out.Results[i]; e != nil {
			left(reasonOf(e, j.ID), api.Status(e.Err()))
			continue
		}
		if a.Did = append(a.Did, j.ID); a.stopsTasks() && j.Running > 0 {
			ran = append(ran, j.ID)
		}
	}
	if len(ran) == 0 {
		return nil
	}
	list, err := src.Jobs.List(ctx, queue.Query{IDs: ran, Limit: len(ran)}, JobOptions{})
	if a.unread(err); err != nil {
		return nil
	}
	for i := range list.Jobs {
		a.Ending += list.Jobs[i].Running
	}
	return nil
}

// reasonOf returns the reason of an error without the number of its job, so that jobs with the same reason share a
// line.
func reasonOf(e *api.Error, id int64) string {
	text := strings.TrimPrefix(e.Detail, fmt.Sprint("job ", id))
	return strings.TrimPrefix(strings.TrimPrefix(text, ":"), " ")
}
