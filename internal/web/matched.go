package web

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// everyJob is the jobs of an action, if they are all that match a filter. The request that carries out the action sends
// the filter again, with the bounds of the confirmation: it leaves out jobs that were submitted later.
type everyJob struct {
	List, Says, Text string
	At               time.Time // of the confirmation, at which the filter measures waits
	Upto             int64     // the highest number of a job then
	After            int64     // a request that continues begins after this number
	Cause            string    // of a hold
	// Count counts the jobs that match. Not is the number of these jobs that the user may not change or,
	// after the action, that were left unchanged.
	Count, Not int
	// Users and Pools count the jobs by user and by pool, Effects by effect, and Left by the reason why the action did
	// not change them.
	Users, Pools, Effects, Left tally
	// Next is the number after which the next request continues; it is 0 if no job is left.
	Next int64

	find   finder
	status int     // of the first job that was not changed
	some   []int64 // the first jobs that the user may change
}

// tally counts jobs by a property.
type tally struct {
	Lines []tallied
	More  int // lines that are not listed
}

type tallied struct {
	Name string
	Jobs int
}

func (t *tally) add(name string) {
	at := slices.IndexFunc(t.Lines, func(l tallied) bool { return l.Name == name })
	if at < 0 {
		at, t.Lines = len(t.Lines), append(t.Lines, tallied{Name: name})
	}
	t.Lines[at].Jobs++
}

// tallyLines is the number of lines that a page shows of a count.
const tallyLines = 10

// sorted puts the largest counts first, and drops the smallest.
func (t *tally) sorted() {
	slices.SortStableFunc(t.Lines, func(a, b tallied) int { return cmp.Or(b.Jobs-a.Jobs, cmp.Compare(a.Name, b.Name)) })
	if len(t.Lines) > tallyLines {
		t.Lines, t.More = t.Lines[:tallyLines], len(t.Lines)-tallyLines
	}
}

// scan reads the jobs that match, within the bounds of the confirmation.
func (m *everyJob) scan(each func(jobs []api.Job, last int64) (bool, error)) error {
	q := m.find.filter.Query
	q.Newest, q.After, q.Before = false, m.After, m.Upto+1
	q.Failing = false // a running array is listed for its failed tasks, but users do not mean to end or restart it
	return m.find.scan(q, func(jobs []api.Job, last int64) (bool, error) {
		m.find.ends = nil
		return each(jobs, last)
	})
}

func (m *everyJob) count(j *api.Job) {
	m.Count++
	m.Users.add(j.User)
	m.Pools.add(j.Pool)
}

func (m *everyJob) sorted() {
	for _, t := range []*tally{&m.Users, &m.Pools, &m.Effects, &m.Left} {
		t.sorted()
	}
}

// May returns the number of jobs that the user may change.
func (m *everyJob) May() int { return m.Count - m.Not }

// Partial returns the number of jobs in the preview of an order, if it leaves jobs out.
func (m *everyJob) Partial() int {
	if len(m.some) < m.May() {
		return len(m.some)
	}
	return 0
}

// Instant returns the instant of the confirmation for the next request.
func (m *everyJob) Instant() string { return m.At.Format(time.RFC3339Nano) }
