package web

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// queueSource is what the page Queue needs.
type queueSource interface {
	// Next are the jobs that start next, in that order: up to n of them whose place is behind
	// the given one, and the place of each.
	Next(ctx context.Context, place int64, n int) (ids, places []int64)
	// Placed returns what reports whether a job has a place in that order.
	Placed(ctx context.Context) func(id int64) bool
}

// queuePage lists jobs: what waits in the order in which it will start, and everything else.
var queuePage = &Page{Name: "queue", Path: queuePath, Title: "Queue", Key: "q", Parts: []string{"list"}, Seen: ByUser, Load: loadQueue, Whole: wholeQueue}

// Queue is what the page shows.
type Queue struct {
	*api.JobList
	Filter filter
	Tabs   []tab
	Tab    string
	Rows   []queueRow
	// First and Next are the addresses of the beginning and of what follows.
	First, Next string
	// Short is set if the search ended before enough was found.
	Short bool
	Now   time.Time
	Verbs []verb
	Later bool

	// The list may be folded: a line for all jobs of a user, say.
	Foldings  []sortLink
	Fold      string
	Folds     []fold
	MoreFolds int
}

// queueRow is a job with what the one who asks may do to it.
type queueRow struct {
	*api.Job
	Mine, May bool
}

type tab struct {
	Name, Says, Link string
	On               bool
}

// queueTabs are the lists that there are. What waits is every job of which a task waits: of an
// array others may run.
var queueTabs = []struct {
	name, says string
	states     []fairlead.State
}{
	{"waiting", "Waiting", []fairlead.State{fairlead.Waiting, fairlead.Queued, fairlead.Running}},
	{"queued", "Queued elsewhere", []fairlead.State{fairlead.Queued}},
	{"running", "Running", []fairlead.State{fairlead.Running}},
	{"held", "Held or blocked", []fairlead.State{fairlead.Held, fairlead.Blocked}},
	{"ended", "Ended", []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled}},
	{"all", "All", nil},
}

// queueRows is how many jobs a page has.
const queueRows = 100

func loadQueue(ctx context.Context, src Source, r *Request) (any, error) {
	q := &Queue{Now: time.Now(), Verbs: allVerbs}
	waits := q.asked(r)
	if err := q.Filter.err(); err != nil {
		if r.Table {
			return nil, err
		}
		return q, q.none(ctx, src)
	}
	q.Later = !r.patient(src)
	if done, err := q.folded(ctx, src, r, waits); done || err != nil {
		return q, err
	}
	find := finder{ctx: ctx, src: src, filter: &q.Filter, options: JobOptions{Rank: true, Start: !q.Later}}
	var next string
	var err error
	if waits {
		next, err = find.inOrder(r.Word("after"))
	} else {
		find.filter.Query.Newest = q.newestFirst()
		next, err = find.byNumber(r.Word("after"))
	}
	if err != nil {
		return nil, err
	}
	q.Short = find.short
	q.fill(find.list, r)
	if next != "" {
		q.Next = r.With("after", next)
	}
	if r.Word("after") != "" {
		q.First = r.With("after", "")
	}
	return q, nil
}

// none lists no job: what is searched for is not understood, and who acts on all that is listed must not
// act on everything.
func (q *Queue) none(ctx context.Context, src Source) error {
	find := finder{ctx: ctx, src: src, filter: &filter{}}
	err := find.details(nil)
	q.JobList = find.list
	return err
}

// asked reads which jobs the list has, and reports whether these are what waits.
func (q *Queue) asked(r *Request) (waits bool) {
	q.Filter = parseFilter(r.Word("q"), q.Now)
	q.Tab = queueTabs[0].name
	states := queueTabs[0].states
	for _, t := range queueTabs {
		if t.name == r.Word("list") {
			q.Tab, states = t.name, t.states
		}
	}
	for _, t := range queueTabs {
		q.Tabs = append(q.Tabs, tab{t.name, t.says, r.With("list", t.name), t.name == q.Tab})
	}
	waits = q.Tab == "waiting" && onlyWaits(q.Filter.Query.States)
	if q.Filter.Query.Waits = waits; len(q.Filter.Query.States) == 0 {
		q.Filter.Query.States = states
	}
	return waits
}

// newestFirst reports whether the list begins with the last job.
func (q *Queue) newestFirst() bool { return q.Tab == "ended" || q.Tab == "all" }

// onlyWaits reports whether the states that somebody typed are those of jobs that wait.
func onlyWaits(states []fairlead.State) bool {
	return !slices.ContainsFunc(states, func(s fairlead.State) bool { return s != fairlead.Waiting })
}

// finder looks for a page of jobs.
type finder struct {
	ctx     context.Context
	src     Source
	filter  *filter
	options JobOptions
	list    *api.JobList
	short   bool
}

// How many jobs are looked at for a page. What many pass is found soon in the order; if few do, the
// store is asked, as far as it can answer.
const (
	orderChunk = 200
	orderMost  = 2000
	storeMost  = 2000
)

// byNumber lists jobs by number. The cursor is the number of the last one.
func (f *finder) byNumber(cursor string) (next string, err error) {
	q := f.filter.Query
	at, _ := strconv.ParseInt(cursor, 10, 64)
	q.Limit = queueRows
	var found []api.Job
	for looked := 0; len(found) < queueRows; looked += q.Limit {
		if q.Newest {
			q.Before = at
		} else {
			q.After = at
		}
		if f.list, err = f.src.Jobs(f.ctx, q, f.options); err != nil {
			return "", err
		}
		jobs := f.list.Jobs
		more := f.list.More
		if len(jobs) > 0 {
			at = jobs[len(jobs)-1].ID
		}
		for i := range jobs {
			if !f.filter.passes(&jobs[i]) {
				continue
			}
			if found = append(found, jobs[i]); len(found) == queueRows {
				at, more = jobs[i].ID, more || i+1 < len(jobs)
				break
			}
		}
		if !more {
			f.list.Jobs = found
			return "", nil
		}
		if looked >= storeMost {
			f.short = true
			break
		}
	}
	f.list.Jobs = found
	return strconv.FormatInt(at, 10), nil
}

// inOrder lists what waits in the order of starts, and then what has no place in it, by number.
// The cursor is a place, or a number after the sign #.
func (f *finder) inOrder(cursor string) (next string, err error) {
	if number, unplaced := strings.CutPrefix(cursor, "#"); unplaced {
		return f.unplaced(number)
	}
	place, _ := strconv.ParseInt(cursor, 10, 64)
	place = max(0, place)
	var found []int64
	for looked := 0; len(found) < queueRows; looked += orderChunk {
		switch {
		case looked < orderMost:
		case f.filter.indexed():
			return f.byStore(place)
		default:
			f.short = true
			return strconv.FormatInt(place, 10), f.details(found)
		}
		ids, places := f.src.Next(f.ctx, place, orderChunk)
		if len(ids) == 0 {
			break
		}
		jobs, err := f.at(ids, JobOptions{})
		if err != nil {
			return "", err
		}
		for i, id := range ids {
			if j := jobs[id]; j != nil && f.filter.passes(j) {
				if len(found) == queueRows {
					return strconv.FormatInt(place, 10), f.details(found)
				}
				found = append(found, id)
			}
			place = places[i]
		}
	}
	if len(found) == queueRows {
		return strconv.FormatInt(place, 10), f.details(found)
	}
	if next, err = f.unplaced("0"); err != nil {
		return "", err
	}
	rest := f.list.Jobs
	err = f.details(found)
	f.list.Jobs = append(f.list.Jobs, rest...)
	return next, err
}

// details makes the list of the jobs with these numbers, in this order.
func (f *finder) details(ids []int64) error {
	jobs, err := f.at(ids, f.options)
	f.list.Jobs = []api.Job{}
	for _, id := range ids {
		if j := jobs[id]; j != nil {
			f.list.Jobs = append(f.list.Jobs, *j)
		}
	}
	return err
}

// at are jobs by their numbers.
func (f *finder) at(ids []int64, o JobOptions) (map[int64]*api.Job, error) {
	q := f.filter.Query
	if q.IDs, q.Limit = ids, len(ids); len(ids) == 0 {
		q.IDs, q.Limit = []int64{-1}, 1 // no job, but the summary
	}
	list, err := f.src.Jobs(f.ctx, q, o)
	if err != nil {
		f.list = &api.JobList{}
		return nil, err
	}
	f.list = list
	out := map[int64]*api.Job{}
	for i := range list.Jobs {
		out[list.Jobs[i].ID] = &list.Jobs[i]
	}
	return out, nil
}

// byStore sorts what the store finds: few jobs pass the filter.
func (f *finder) byStore(place int64) (string, error) {
	q := f.filter.Query
	q.Limit = storeMost
	list, err := f.src.Jobs(f.ctx, q, f.options)
	if err != nil {
		return "", err
	}
	f.list, f.short = list, list.More
	jobs := slices.DeleteFunc(list.Jobs, func(j api.Job) bool { return !f.filter.passes(&j) || j.Rank > 0 && j.Rank <= place })
	slices.SortStableFunc(jobs, func(a, b api.Job) int { return compareRank(a.Rank, b.Rank) })
	next := ""
	if len(jobs) > queueRows {
		jobs = jobs[:queueRows]
		if last := jobs[queueRows-1].Rank; last > 0 {
			next = strconv.FormatInt(last, 10)
		}
	}
	f.list.Jobs = jobs
	return next, nil
}

// compareRank puts what has no place last.
func compareRank(a, b int64) int {
	switch {
	case a == b:
		return 0
	case b == 0 || a > 0 && a < b:
		return -1
	}
	return 1
}

// unplaced lists what waits and has no place in the order: something else holds it back.
func (f *finder) unplaced(after string) (string, error) {
	q := f.filter.Query
	q.After, _ = strconv.ParseInt(after, 10, 64)
	q.Limit = orderMost
	list, err := f.src.Jobs(f.ctx, q, JobOptions{})
	if err != nil {
		return "", err
	}
	placed := f.src.Placed(f.ctx)
	var ids []int64
	next := ""
	for i := range list.Jobs {
		if j := &list.Jobs[i]; f.filter.passes(j) && !placed(j.ID) {
			if ids = append(ids, j.ID); len(ids) == queueRows {
				next = "#" + strconv.FormatInt(j.ID, 10)
				break
			}
		}
	}
	if next == "" && list.More && len(list.Jobs) > 0 {
		next, f.short = "#"+strconv.FormatInt(list.Jobs[len(list.Jobs)-1].ID, 10), true
	}
	return next, f.details(ids)
}
