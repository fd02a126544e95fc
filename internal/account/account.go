// Package account sums up what jobs had and how long they waited, from the jobs that a store has
// kept: per month, pool, user and kind, for those who want to see it in writing. How it is
// shown is left to others.
package account

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// Source is where the jobs are kept.
type Source interface {
	Jobs(ctx context.Context, q queue.Query) ([]*queue.Job, error)
	Tasks(ctx context.Context, job int64) ([]queue.Task, error)
}

// Ask chooses the tasks to sum up.
type Ask struct {
	Since, Until time.Time
	User         string   // only jobs of this user
	Pool         string   // only jobs of this pool and of those below it
	By           []string // of Dimensions
	Depth        int      // of pools: the number of names of their paths; 0 is all
	Unit         string   // in which shares are counted
	Zone         *time.Location
	// Waited adds a row for what waited and had nothing.
	Waited bool
}

// Dimensions are the columns that sums may have.
var Dimensions = []string{"month", "pool", "user", "kind"}

// page is how many jobs are read at a time.
const page = 2000

// Read sums up. Of a task that was tried several times the last attempt counts, because the store keeps
// only this one.
func Read(ctx context.Context, src Source, a Ask) ([]Row, error) {
	s := newSums(a)
	err := each(ctx, src, a, func(j *queue.Job) error {
		tasks, err := tasksOf(ctx, src, j)
		if err == nil {
			s.add(j, tasks)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.rows(), nil
}

// each calls f for all jobs that may have had something in the window.
func each(ctx context.Context, src Source, a Ask, f func(*queue.Job) error) error {
	q := queue.Query{Since: a.Since, User: a.User, Pool: a.Pool, Limit: page}
	for {
		jobs, err := src.Jobs(ctx, q)
		if err != nil {
			return fmt.Errorf("read the jobs of the past: %w", err)
		}
		for _, j := range jobs {
			if j.Submitted.After(a.Until) {
				continue
			}
			if err := f(j); err != nil {
				return err
			}
		}
		if len(jobs) < page {
			return nil
		}
		q.After = jobs[len(jobs)-1].ID
	}
}

// tasksOf are the tasks of a job that began.
func tasksOf(ctx context.Context, src Source, j *queue.Job) ([]queue.Task, error) {
	if j.Started.IsZero() {
		return nil, nil
	}
	tasks, err := src.Tasks(ctx, j.ID)
	if err != nil {
		return nil, fmt.Errorf("read the tasks of job %d: %w", j.ID, err)
	}
	return tasks, nil
}

// add adds a job with its tasks.
func (s *sums) add(j *queue.Job, tasks []queue.Task) {
	slots := float64(max(1, j.Request[s.ask.Unit]))
	seen := map[*sum]bool{}
	count := func(x *sum) *sum {
		if !seen[x] {
			seen[x] = true
			x.Jobs++
		}
		return x
	}
	ready := units.Later(j.Submitted, j.Begin)
	if s.ask.Waited {
		s.spread(j, ready, s.waitedUntil(j, tasks), func(*sum, time.Duration) {})
	}
	for i := range tasks {
		t := &tasks[i]
		if t.Started.IsZero() || t.Queued { // it has not begun, or never did
			continue
		}
		if s.within(t.Started) && t.Attempt <= 1 && len(j.After) == 0 {
			count(s.at(j, t.Started)).wait(max(0, t.Started.Sub(ready).Seconds()))
		}
		end := t.Ended
		switch {
		case t.State == queue.Running || end.IsZero():
			end = s.ask.Until
		case s.within(end):
			x := count(s.at(j, end))
			x.ended(t)
		}
		s.spread(j, t.Started, end, func(x *sum, d time.Duration) { count(x).UnitSeconds += slots * d.Seconds() })
	}
}

// waitedUntil is when the last task of a job began that waited, or the job ended without it.
func (s *sums) waitedUntil(j *queue.Job, tasks []queue.Task) (last time.Time) {
	began := 0
	for i := range tasks {
		if t := &tasks[i]; !t.Started.IsZero() && !t.Queued {
			began++
			last = units.Later(last, t.Started)
		}
	}
	switch {
	case began >= j.Tasks:
		return last
	case !j.Ended.IsZero():
		return j.Ended
	}
	return s.ask.Until
}

// spread gives each month the part of a run that lies in it, and in the window.
func (s *sums) spread(j *queue.Job, from, to time.Time, give func(x *sum, d time.Duration)) {
	from, to = units.Later(from, s.ask.Since), units.Earlier(to, s.ask.Until)
	for from.Before(to) {
		next := units.Earlier(to, s.nextMonth(from))
		give(s.at(j, from), next.Sub(from))
		from = next
	}
}

// within reports whether an instant is in the window.
func (s *sums) within(t time.Time) bool {
	return !t.Before(s.ask.Since) && t.Before(s.ask.Until)
}

// nextMonth is when the month after an instant begins.
func (s *sums) nextMonth(t time.Time) time.Time {
	y, m, _ := t.In(s.ask.Zone).Date()
	return time.Date(y, m+1, 1, 0, 0, 0, 0, s.ask.Zone)
}

// at is the row to which what happened to a job at an instant belongs.
func (s *sums) at(j *queue.Job, t time.Time) *sum {
	var k key
	for _, by := range s.ask.By {
		switch by {
		case "month":
			k.month = t.In(s.ask.Zone).Format("2006-01")
		case "pool":
			k.pool = upTo(j.Pool, s.ask.Depth)
		case "user":
			k.user = j.User
		case "kind":
			k.kind = j.Kind
		}
	}
	x := s.of[k]
	if x == nil {
		x = &sum{Row: Row{Month: k.month, Pool: k.pool, User: k.user, Kind: k.kind}}
		s.of[k] = x
	}
	return x
}

// rows are the rows in the order of their names.
func (s *sums) rows() []Row {
	keys := slices.SortedFunc(maps.Keys(s.of), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.month, b.month), cmp.Compare(a.pool, b.pool), cmp.Compare(a.user, b.user),
			cmp.Compare(a.kind, b.kind))
	})
	rows := make([]Row, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, s.of[k].close())
	}
	return rows
}

// upTo is a path up to a number of names.
func upTo(path string, depth int) string {
	if depth == 0 {
		return path
	}
	names := strings.SplitN(path, "/", depth+1)
	return strings.Join(names[:min(depth, len(names))], "/")
}

// Window is what of a month, as a row names it, is summed up; of no month all.
func (a *Ask) Window(month string) (from, to time.Time) {
	from, to = a.Since, a.Until
	if begin, err := time.ParseInLocation("2006-01", month, a.Zone); err == nil {
		from, to = units.Later(from, begin), units.Earlier(to, begin.AddDate(0, 1, 0))
	}
	return from, to
}

type key struct{ month, pool, user, kind string }

// sums are the rows while they grow.
type sums struct {
	ask Ask
	of  map[key]*sum
}

func newSums(a Ask) *sums { return &sums{ask: a, of: map[key]*sum{}} }
