// Package account sums up, from the jobs in a store, the resources that jobs had and the time that they
// waited: per month, pool, user and kind, for reports. Other packages show the sums.
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

// Source holds the jobs.
type Source interface {
	Jobs(ctx context.Context, q queue.Query) ([]*queue.Job, error)
	Tasks(ctx context.Context, job int64) ([]queue.Task, error)
}

// Ask chooses the tasks to sum up.
type Ask struct {
	Since, Until time.Time
	User         string   // only jobs of this user
	Pool         string   // only jobs of this pool and of the pools below it
	By           []string // some of Dimensions
	Depth        int      // of pools: how many names of their paths to keep; 0: all
	Unit         string   // resource that shares count
	Zone         *time.Location
	// Waited adds rows for jobs that waited and received nothing.
	Waited bool
}

// Dimensions are the columns that sums may have.
var Dimensions = []string{"month", "pool", "user", "kind"}

// page is how many jobs are read at a time.
const page = 2000

// Read sums up. Of a task with several attempts only the last one counts, because the store keeps only this
// one.
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

// each calls f for all jobs that may have received something in the window.
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

// tasksOf returns the tasks of a job, or none if no task has begun.
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

// waitedUntil returns when the last waiting task of a job began, or when the job ended while some still
// waited.
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

// spread gives each month the part of a run that is within the month and within the window.
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

// nextMonth returns when the month after an instant begins.
func (s *sums) nextMonth(t time.Time) time.Time {
	y, m, _ := t.In(s.ask.Zone).Date()
	return time.Date(y, m+1, 1, 0, 0, 0, 0, s.ask.Zone)
}

// at returns the row that counts events of a job at an instant.
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

// rows returns the rows, sorted by their names.
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

// upTo returns the first "depth" names of a path; the depth 0 means all.
func upTo(path string, depth int) string {
	if depth == 0 {
		return path
	}
	names := strings.SplitN(path, "/", depth+1)
	return strings.Join(names[:min(depth, len(names))], "/")
}

// Window returns the part of a month, given as in a row, that is summed up; for "" the whole window.
func (a *Ask) Window(month string) (from, to time.Time) {
	from, to = a.Since, a.Until
	if begin, err := time.ParseInLocation("2006-01", month, a.Zone); err == nil {
		from, to = units.Later(from, begin), units.Earlier(to, begin.AddDate(0, 1, 0))
	}
	return from, to
}

type key struct{ month, pool, user, kind string }

// sums holds the rows while they grow.
type sums struct {
	ask Ask
	of  map[key]*sum
}

func newSums(a Ask) *sums { return &sums{ask: a, of: map[key]*sum{}} }
