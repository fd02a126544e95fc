package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// queueTabs defines the lists. A job counts as waiting if one of its tasks waits; other tasks of an array may
// run.
var queueTabs = []struct {
	name, says string
	columns    layout
	states     []queue.State
}{
	{"waiting", "Waiting", asWaiting, []queue.State{queue.Waiting, queue.Queued, queue.Running}},
	{mineTab, "Mine", asAny, nil},
	{"queued", "Queued elsewhere", asWaiting, []queue.State{queue.Queued}},
	{"running", "Running", asRunning, []queue.State{queue.Running}},
	{"held", "Held or blocked", asWaiting, []queue.State{queue.Held, queue.Blocked}},
	{"failed", "Failed", asEnded, []queue.State{queue.Failed}},
	{"ended", "Ended", asEnded, []queue.State{queue.Succeeded, queue.Failed, queue.Cancelled}},
	{"all", "All", asAny, nil},
}

// mineTab is the list of the user's own jobs.
const mineTab = "mine"

// queueRows is the number of jobs on a page.
const queueRows = 100

// asked reads the requested list and filter, and reports whether the list is the waiting jobs.
func (q *Queue) asked(r *Request) (waits bool) {
	q.Filter = parseFilter(r.Word("q"), q.Now)
	q.Tab, q.Columns = queueTabs[0].name, queueTabs[0].columns
	states, known := queueTabs[0].states, r.You.UID >= 0 && r.You.User != ""
	for _, t := range queueTabs {
		if t.name == r.Word("list") && (known || t.name != mineTab) {
			q.Tab, q.Columns, states = t.name, t.columns, t.states
		}
	}
	for _, t := range queueTabs {
		if known || t.name != mineTab {
			q.Tabs = append(q.Tabs, tab{t.name, t.says, r.With("list", t.name), t.name == q.Tab})
		}
	}
	if q.Tab == mineTab {
		q.Filter.Query.User = cmp.Or(q.Filter.Query.User, r.You.User)
	}
	waits = q.Tab == "waiting" && onlyWaits(q.Filter.Query.States)
	if q.Filter.Query.Waits = waits; len(q.Filter.Query.States) == 0 {
		q.Filter.Query.States = states
	}
	q.Filter.Query.Failing = slices.Contains(q.Filter.Query.States, queue.Failed)
	q.askedOrder(r, waits)
	return waits
}

// options returns what the list shows of each job.
func (q *Queue) options() JobOptions {
	o := JobOptions{Rank: q.Columns != asEnded, Ends: q.Columns == asEnded || q.Columns == asAny || q.Filter.byCause}
	o.Start = o.Rank && !q.Later
	return o
}

// fill makes rows from a list of jobs.
func (q *Queue) fill(list *api.JobList, r *Request) {
	q.JobList, q.Rows = list, nil
	for i := range list.Jobs {
		j := &list.Jobs[i]
		mine := r.You.UID >= 0 && r.You.User == j.User
		q.Rows = append(q.Rows, queueRow{j, mine, mayChange(j, &r.You)})
	}
}

// onlyWaits reports whether the typed states are only the state waiting.
func onlyWaits(states []queue.State) bool {
	return !slices.ContainsFunc(states, func(s queue.State) bool { return s != queue.Waiting })
}

// finder finds a page of jobs.
type finder struct {
	ctx     context.Context
	src     Source
	filter  *filter
	options JobOptions
	list    *api.JobList
	short   bool
	ends    map[int64]*api.Task // of the jobs that were read for a test of the filter
}

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
		if f.list, err = f.src.Jobs.List(f.ctx, q, f.options); err != nil {
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
		if looked >= maxStored {
			f.short = true
			break
		}
	}
	f.list.Jobs = found
	return strconv.FormatInt(at, 10), nil
}

// inOrder lists waiting jobs in the order of starts, and then the jobs without a place in it, by number. The
// cursor is a place, or a number after the sign #. If the order was unknown when the list began, the whole
// list is by number, and the cursor is a number after the sign =. Otherwise a reader would miss jobs that get
// a place before the next page.
func (f *finder) inOrder(cursor string) (next string, err error) {
	if number, unplaced := strings.CutPrefix(cursor, "#"); unplaced {
		return f.unplaced("#", number, f.places())
	}
	nowhere := func(int64) int64 { return 0 }
	if number, unordered := strings.CutPrefix(cursor, "="); unordered {
		return f.unplaced("=", number, nowhere)
	}
	place, _ := strconv.ParseInt(cursor, 10, 64)
	place = max(0, place)
	from, many := place, false
	var few, found []int64
	for looked := 0; len(found) < queueRows; looked += orderChunk {
		switch {
		case looked >= maxOrdered && f.filter.indexed():
			return f.byStore(from, nil)
		case looked >= maxOrdered:
			f.short = true
			return strconv.FormatInt(place, 10), f.details(found)
		case f.filter.indexed() && !many && rare(len(found), looked):
			if few, many, err = f.fewMatch(); err != nil {
				return "", err
			} else if !many {
				return f.byStore(from, few)
			}
		}
		ids, places := f.src.Jobs.Next(f.ctx, f.filter.Query.Pool, place, orderChunk)
		if len(ids) == 0 && looked == 0 && cursor == "" {
			return f.unplaced("=", "0", nowhere)
		}
		if len(ids) == 0 {
			break
		}
		jobs, err := f.at(ids)
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
	if next, err = f.unplaced("#", "0", f.places()); err != nil {
		return "", err
	}
	rest := f.list.Jobs
	err = f.details(found)
	f.list.Jobs = append(f.list.Jobs, rest...)
	return next, err
}

// rare reports whether so few of the first jobs in the order match the filter that a page of them would not be found
// among [maxOrdered] jobs.
func rare(found, looked int) bool { return looked > 0 && found*maxOrdered < queueRows*looked }

// fewMatch returns the numbers of the jobs that may match the filter, or reports that they are more than [maxFew]. The
// store reads all open jobs to find them.
func (f *finder) fewMatch() (ids []int64, many bool, err error) {
	q := f.filter.Query
	q.Limit = maxFew
	list, err := f.src.Jobs.List(f.ctx, q, JobOptions{})
	if err != nil || list.More {
		return nil, true, err
	}
	f.list, ids = list, []int64{}
	for i := range list.Jobs {
		ids = append(ids, list.Jobs[i].ID)
	}
	return ids, false, nil
}

// details makes the list of the jobs with these numbers, in this order.
func (f *finder) details(ids []int64) error {
	o := f.options
	o.Ends = o.Ends && f.ends == nil // otherwise the ends have been read already
	jobs, err := f.numbered(ids, o)
	f.list.Jobs = []api.Job{}
	for _, id := range ids {
		if j := jobs[id]; j != nil {
			if f.ends != nil {
				j.LastEnd = f.ends[id]
			}
			f.list.Jobs = append(f.list.Jobs, *j)
		}
	}
	return err
}

// at returns jobs by their numbers, for the tests of the filter.
func (f *finder) at(ids []int64) (map[int64]*api.Job, error) {
	jobs, err := f.numbered(ids, JobOptions{Ends: f.filter.byCause})
	if err == nil {
		f.remember(f.list.Jobs)
	}
	return jobs, err
}

// remember keeps how jobs ended, if the filter had to know it.
func (f *finder) remember(jobs []api.Job) {
	if !f.filter.byCause {
		return
	}
	if f.ends == nil {
		f.ends = map[int64]*api.Task{}
	}
	for i := range jobs {
		f.ends[jobs[i].ID] = jobs[i].LastEnd
	}
}

// numbered returns jobs by their numbers.
func (f *finder) numbered(ids []int64, o JobOptions) (map[int64]*api.Job, error) {
	q := f.filter.Query
	if q.IDs, q.Limit = ids, len(ids); len(ids) == 0 {
		q.IDs, q.Limit = []int64{-1}, 1 // no job, but the summary
	}
	list, err := f.src.Jobs.List(f.ctx, q, o)
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

// look reads jobs for the tests of the filter.
func (f *finder) look(q queue.Query) (*api.JobList, error) {
	list, err := f.src.Jobs.List(f.ctx, q, JobOptions{Ends: f.filter.byCause})
	if err == nil {
		f.remember(list.Jobs)
	}
	return list, err
}

// byStore sorts the jobs that the store finds. If few jobs match the filter, their numbers are known, and the store
// reads only these.
func (f *finder) byStore(place int64, few []int64) (string, error) {
	q := f.filter.Query
	q.IDs, q.Limit = few, maxStored
	if few != nil && len(few) == 0 {
		return "", f.details(nil)
	}
	list, err := f.look(q)
	if err != nil {
		return "", err
	}
	f.list, f.short = list, list.More
	var ids []int64
	placeOf := f.places()
	for i := range list.Jobs {
		j := &list.Jobs[i]
		if at := placeOf(j.ID); f.filter.passes(j) && (at == 0 || at > place) {
			ids = append(ids, j.ID)
		}
	}
	slices.SortStableFunc(ids, func(a, b int64) int { return comparePlaces(placeOf(a), placeOf(b)) })
	next := ""
	if len(ids) > queueRows {
		ids = ids[:queueRows]
		if last := placeOf(ids[queueRows-1]); last > 0 {
			next = strconv.FormatInt(last, 10)
		}
	}
	return next, f.details(ids)
}

// unplaced lists waiting jobs without a place in the order, by number: something else holds them back. The
// cursor of the next page begins with the sign.
func (f *finder) unplaced(sign, after string, placeOf func(id int64) int64) (string, error) {
	q := f.filter.Query
	q.After, _ = strconv.ParseInt(after, 10, 64)
	q.Limit = maxOrdered
	list, err := f.look(q)
	if err != nil {
		return "", err
	}
	var ids []int64
	next := ""
	for i := range list.Jobs {
		if j := &list.Jobs[i]; f.filter.passes(j) && placeOf(j.ID) == 0 {
			if ids = append(ids, j.ID); len(ids) == queueRows {
				next = sign + strconv.FormatInt(j.ID, 10)
				break
			}
		}
	}
	if next == "" && list.More && len(list.Jobs) > 0 {
		next, f.short = sign+strconv.FormatInt(list.Jobs[len(list.Jobs)-1].ID, 10), true
	}
	return next, f.details(ids)
}

// places returns the place of each job in the order of starts, as far as the order has it in the pool of the filter.
func (f *finder) places() func(id int64) int64 { return f.src.Jobs.Places(f.ctx, f.filter.Query.Pool) }

// comparePlaces puts jobs without a place last.
func comparePlaces(a, b int64) int {
	switch {
	case a == b:
		return 0
	case b == 0 || a > 0 && a < b:
		return -1
	}
	return 1
}

// How many jobs are read for a page. If many jobs match, the search finds them early in the order. If few seem to
// match, it asks the store, as far as the store can answer.
const (
	orderChunk = 200
	maxOrdered = 2000
	maxStored  = 2000
	maxFew     = 300 // if no more jobs match, the store is asked early
)
