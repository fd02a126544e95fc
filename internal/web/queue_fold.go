package web

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// folding is a property: jobs with the same value share a line. The filter has a word of the same name.
type folding struct {
	name string
	of   func(j *api.Job) string
}

// foldings lists the properties for folding the queue. Lists of ended jobs begin with byCause.
var foldings = []folding{
	{"cause", words.Cause},
	{"user", func(j *api.Job) string { return j.User }},
	{"pool", func(j *api.Job) string { return j.Pool }},
	{"kind", func(j *api.Job) string { return j.Kind }},
}

// byCause is the index of the folding by cause.
const byCause = 0

// single is the word for a list of single jobs, where the list is folded unless the request says so.
const single = "jobs"

// maxFold is the maximum number of jobs that are read for a folded list.
const maxFold = 1500

// foldingOf returns the index of the requested folding, or -1.
func foldingOf(r *Request) int {
	name := r.Word("fold")
	if name == "" && foldsFirst(r) {
		return byCause
	}
	return slices.IndexFunc(foldings, func(f folding) bool { return f.name == name })
}

// foldsFirst reports whether a list is folded unless the request says otherwise: failed jobs, by cause.
func foldsFirst(r *Request) bool { return r.Word("list") == "failed" && r.Word("q") == "" }

// singleOf returns the value of the parameter fold for single jobs.
func singleOf(r *Request) string {
	if foldsFirst(r) {
		return single
	}
	return ""
}

// folds reports whether the list is folded.
func folds(r *Request) bool { return foldingOf(r) >= 0 }

// folded reads the folded list, if the request asks for it.
func (q *Queue) folded(ctx context.Context, src Source, r *Request, waits bool) (bool, error) {
	at := foldingOf(r)
	q.Foldings = append(q.Foldings, sortLink{"single jobs", r.With("fold", singleOf(r)), at < 0})
	for i, f := range foldings {
		if i == byCause && q.Columns != asEnded {
			continue
		}
		q.Foldings = append(q.Foldings, sortLink{"by " + f.name, r.With("fold", f.name), i == at})
	}
	if at < 0 {
		return false, nil
	}
	if q.Fold = foldings[at].name; q.Fold == "user" && q.Columns != asEnded {
		q.UserLimit = src.Nodes.RunningPerUser()
	}
	find := finder{ctx: ctx, src: src, filter: &q.Filter, options: JobOptions{Ends: at == byCause}}
	find.filter.Query.Newest = q.newestFirst()
	jobs, places, err := find.many(waits, maxFold)
	if err != nil {
		return true, err
	}
	q.JobList, q.Short = find.list, find.short
	q.group(jobs, places, foldings[at].of, r)
	if err := q.firsts(ctx, src); err != nil {
		return true, err
	}
	return true, nil
}

// many returns jobs that pass the filter, at most "most" of them, in the order of the list, and their places in the
// order of starts.
func (f *finder) many(waits bool, most int) (out []api.Job, places []int64, err error) {
	if !waits {
		q := f.filter.Query
		q.Limit = most
		list, err := f.src.Jobs.List(f.ctx, q, f.options)
		if err != nil {
			return nil, nil, err
		}
		f.list, f.short = list, list.More
		out = slices.DeleteFunc(list.Jobs, func(j api.Job) bool { return !f.filter.passes(&j) })
		return out, make([]int64, len(out)), nil
	}
	ids, at := f.src.Jobs.Next(f.ctx, f.filter.Query.Pool, 0, most)
	f.short = len(ids) == most
	jobs, err := f.at(ids)
	if err != nil {
		return nil, nil, err
	}
	for i, id := range ids {
		if j := jobs[id]; j != nil && f.filter.passes(j) {
			out, places = append(out, *j), append(places, at[i])
		}
	}
	if f.short {
		return out, places, nil
	}
	list := f.list
	next, err := f.unplaced("#", "0", f.places())
	if err != nil {
		return nil, nil, err
	}
	f.short = next != ""
	out = append(out, f.list.Jobs...)
	f.list = list
	return out, append(places, make([]int64, len(out)-len(places))...), nil
}

// group makes lines from jobs with the same property.
func (q *Queue) group(jobs []api.Job, places []int64, of func(*api.Job) string, r *Request) {
	unit := q.Summary.Unit
	by := map[string]*fold{}
	var order []*fold
	for i := range jobs {
		j := &jobs[i]
		name := of(j)
		g := by[name]
		if g == nil {
			g = &fold{Name: name, Oldest: j.Submitted, firstID: j.ID, Place: places[i], known: map[string]bool{}}
			g.Link = foldLink(r, q.Fold, name)
			by[name], order = g, append(order, g)
		}
		g.add(j, unit)
	}
	for _, g := range order {
		g.known = nil
		q.Folds = append(q.Folds, *g)
	}
	if len(q.Folds) > queueRows {
		q.Folds, q.MoreFolds = q.Folds[:queueRows], len(q.Folds)-queueRows
	}
}

// add adds a job to the line.
func (g *fold) add(j *api.Job, unit string) {
	const few = 3
	tasks := int64(max(1, j.Waiting+j.Running))
	g.Jobs++
	g.Waiting, g.Runs = g.Waiting+int64(j.Waiting), g.Runs+int64(j.Running)
	g.Units += tasks * max(1, j.Request[unit])
	if j.Submitted.Before(g.Oldest) {
		g.Oldest = j.Submitted
	}
	note := func(kind, name string, list *[]string, more *int) {
		if g.known[kind+name] {
			return
		}
		if g.known[kind+name] = true; len(*list) < few {
			*list = append(*list, name)
		} else {
			*more++
		}
	}
	if j.Ended != nil && (g.Last == nil || j.Ended.After(*g.Last)) {
		g.Last = j.Ended
	}
	if j.LastEnd != nil {
		note("n ", j.LastEnd.Node, &g.Nodes, &g.MoreN)
	}
	note("u ", j.User, &g.Users, &g.MoreU)
	note("p ", j.Pool, &g.Pools, &g.MoreP)
}

// foldLink returns the address of the jobs of one line: one more word in the filter, not folded.
func foldLink(r *Request, word, value string) string {
	if value == "" {
		return ""
	}
	text := strings.TrimSpace(r.Word("q") + " " + word + ":" + filterValue(value))
	q := *r
	q.Query = map[string][]string{}
	for k, v := range r.Query {
		if k != "fold" {
			q.Query[k] = v
		}
	}
	return q.With("q", text)
}

// firsts reads the first job of each line, with the reason of its wait and its estimated start.
func (q *Queue) firsts(ctx context.Context, src Source) error {
	var ids []int64
	for i := range q.Folds {
		ids = append(ids, q.Folds[i].firstID)
	}
	if len(ids) == 0 {
		return nil
	}
	list, err := src.Jobs.List(ctx, queue.Query{IDs: ids, Limit: len(ids)}, q.options())
	if err != nil {
		return err
	}
	first := map[int64]*api.Job{}
	for i := range list.Jobs {
		first[list.Jobs[i].ID] = &list.Jobs[i]
	}
	q.JobList.At = list.At
	for i := range q.Folds {
		q.Folds[i].First = first[q.Folds[i].firstID]
	}
	return nil
}
