package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Jobs implements queue.Store.
func (s *Store) Jobs(ctx context.Context, q queue.Query) ([]*queue.Job, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	ids := candidates(s, q)
	slices.Sort(ids)
	if q.Newest {
		slices.Reverse(ids)
	}
	var out []*queue.Job
	for _, id := range slices.Compact(ids) {
		if j := s.jobs[id]; j != nil && matches(&j.Job, q) {
			c := j.Job
			out = append(out, &c)
			if q.Limit > 0 && len(out) == q.Limit {
				break
			}
		}
	}
	return out, nil
}

// candidates returns the ids of the jobs that a query has to check, some of them perhaps twice.
func candidates(s *Store, q queue.Query) (ids []int64) {
	switch {
	case len(q.DependsOn) > 0:
		for _, id := range q.DependsOn {
			ids = append(ids, s.dependents[id]...)
		}
		return slices.DeleteFunc(ids, func(id int64) bool { return len(q.IDs) > 0 && !slices.Contains(q.IDs, id) })
	case len(q.IDs) > 0:
		return slices.Clone(q.IDs)
	}
	return slices.Collect(maps.Keys(s.jobs))
}

func matches(j *queue.Job, q queue.Query) bool {
	return (q.User == "" || q.User == j.User) &&
		(q.Kind == "" || q.Kind == j.Kind) &&
		(q.Pool == "" || share.Inside(j.Pool, q.Pool)) &&
		(len(q.States) == 0 || slices.Contains(q.States, j.State) || q.Failing && !j.State.Ended() && j.Failed > 0) &&
		(!q.Waits || j.Waiting > 0) &&
		(q.Since.IsZero() || !j.State.Ended() || !j.Ended.Before(q.Since)) &&
		j.ID > q.After && (q.Before == 0 || j.ID < q.Before)
}

// Tasks implements queue.Store.
func (s *Store) Tasks(ctx context.Context, id int64) ([]queue.Task, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	j := s.jobs[id]
	if j == nil {
		return nil, queue.NoJob(id)
	}
	var out []queue.Task
	for _, t := range j.tasks {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b queue.Task) int { return cmp.Compare(a.Index, b.Index) })
	return out, nil
}

// Ends implements queue.EndReader.
func (s *Store) Ends(ctx context.Context, jobs []int64) (out []queue.Task, err error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	ids := slices.Clone(jobs)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		j := s.jobs[id]
		if j == nil || j.Job.Tasks > queue.MaxEnds {
			continue
		}
		var tasks []queue.Task
		for _, t := range j.tasks {
			tasks = append(tasks, *t)
		}
		if last, ended := queue.LastEnd(tasks); ended {
			out = append(out, last)
		}
	}
	return out, nil
}

// Snapshot implements queue.Store.
func (s *Store) Snapshot(ctx context.Context, f func(queue.Change) error) (int64, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if err := snapshot(s, f, now); err != nil {
		return 0, err
	}
	return s.feed.Cursor(), nil
}

// snapshot calls f for all jobs. The caller holds the lock.
func snapshot(s *Store, f func(queue.Change) error, now time.Time) error {
	for _, id := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.jobs[id]
		if j.State.Ended() {
			continue
		}
		if j.Running > 0 {
			var tasks []queue.Task
			for _, i := range slices.Sorted(maps.Keys(j.tasks)) {
				if t := j.tasks[i]; t.State == queue.Running {
					tasks = append(tasks, *t)
				}
			}
			for _, c := range life.RunsChanges(&j.Job, tasks, now) {
				if err := f(c); err != nil {
					return err
				}
			}
		}
		if !life.Eligible(&j.Job) {
			continue
		}
		if err := f(queue.Change{What: queue.Waited, Job: life.Header(&j.Job), Waits: j.waits(), State: j.State, At: now}); err != nil {
			return err
		}
	}
	return nil
}

// Changes implements queue.Store.
func (s *Store) Changes(ctx context.Context, cursor int64, most int) ([]queue.Change, int64, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, 0, err
	}
	defer s.mu.Unlock()
	return s.feed.After(cursor, most)
}

// Notify implements queue.Notifier.
func (s *Store) Notify(c chan<- struct{}) (stop func()) { return s.feed.Notify(c) }
