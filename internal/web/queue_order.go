package web

import (
	"cmp"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// layout says which columns a list has.
type layout string

// The kinds of lists.
const (
	asWaiting layout = "waiting"
	asRunning layout = "running"
	asEnded   layout = "ended"
	asAny     layout = "any" // jobs of all states
)

// listOrder is the order of a list by a column.
type listOrder struct {
	name string
	in   []layout // lists with that column; empty: all
	// value returns the value of a job that the order compares; jobs without a value come last.
	value func(j *api.Job, s *sorter) (sortValue, bool)
	ends  bool // the value depends on how the job ended
	// stored says that the store has this order: the order of the numbers. The flag "backwards" says that the column
	// shows the opposite, such as an age in place of an instant.
	stored, backwards bool
}

// sortValue is a text or a number.
type sortValue struct {
	text   string
	number float64
}

func (a sortValue) compare(b sortValue) int {
	return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.number, b.number))
}

// listOrders are the orders by columns. Numbers of jobs grow with the instants of their submissions.
var listOrders = []listOrder{
	{name: "job", stored: true},
	{name: "submitted", stored: true, backwards: true, in: []layout{asWaiting, asAny}},
	{name: "user", value: byText(func(j *api.Job) string { return j.User })},
	{name: "pool", value: byText(func(j *api.Job) string { return j.Pool })},
	{name: "name", value: byText(func(j *api.Job) string { return j.Name })},
	{name: "kind", value: byText(func(j *api.Job) string { return j.Kind })},
	{name: "size", value: func(j *api.Job, s *sorter) (sortValue, bool) {
		return sortValue{number: float64(max(1, j.Request[s.unit]) * int64(max(1, j.Gang)))}, true
	}},
	{name: "limit", in: []layout{asWaiting, asRunning, asAny}, value: func(j *api.Job, _ *sorter) (sortValue, bool) {
		return sortValue{number: j.LimitSeconds}, j.LimitSeconds > 0
	}},
	{name: "elapsed", in: []layout{asRunning}, value: func(j *api.Job, s *sorter) (sortValue, bool) {
		return since(j.RunsSince, s.now)
	}},
	{name: "left", in: []layout{asRunning}, value: func(j *api.Job, s *sorter) (sortValue, bool) {
		ran, runs := since(j.RunsSince, s.now)
		return sortValue{number: j.LimitSeconds - ran.number}, runs && j.LimitSeconds > 0
	}},
	{name: "ended", in: []layout{asEnded}, value: func(j *api.Job, s *sorter) (sortValue, bool) {
		ago, ended := since(j.Ended, s.now)
		return sortValue{number: -ago.number}, ended
	}},
	{name: "ran", in: []layout{asEnded}, ends: true, value: func(j *api.Job, _ *sorter) (sortValue, bool) {
		from, to := ranBetween(j)
		if from == nil || to == nil {
			return sortValue{}, false
		}
		return sortValue{number: to.Sub(*from).Seconds()}, true
	}},
	{name: "memory", in: []layout{asEnded}, ends: true, value: func(j *api.Job, _ *sorter) (sortValue, bool) {
		if j.LastEnd == nil || j.LastEnd.MaxRSS == 0 {
			return sortValue{}, false
		}
		return sortValue{number: float64(j.LastEnd.MaxRSS)}, true
	}},
}

func byText(of func(*api.Job) string) func(*api.Job, *sorter) (sortValue, bool) {
	return func(j *api.Job, _ *sorter) (sortValue, bool) { return sortValue{text: of(j)}, of(j) != "" }
}

func since(t *time.Time, now time.Time) (sortValue, bool) {
	if t == nil {
		return sortValue{}, false
	}
	return sortValue{number: now.Sub(*t).Seconds()}, true
}

// sorter sorts the jobs of a list by a column.
type sorter struct {
	*listOrder
	down bool // the largest value first
	now  time.Time
	unit string
}

// ranBetween returns when the last ended task of a job began and ended, or else the job; nil is unknown.
func ranBetween(j *api.Job) (from, to *time.Time) {
	if t := j.LastEnd; t != nil && !t.Queued {
		return &t.Started, t.Ended
	}
	return j.Started, j.Ended
}

// sortHead is the head of a column that sorts the list. The field says is the present order as aria-sort names it,
// or "".
type sortHead struct{ link, says string }
