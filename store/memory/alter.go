package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Alter implements fairlead.Store.
func (s *Store) Alter(ctx context.Context, changes []fairlead.Alteration) ([]error, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]error, len(changes))
	for i, c := range changes {
		out[i] = s.alter(c, now)
	}
	return out, nil
}

func (s *Store) alter(a fairlead.Alteration, now time.Time) error {
	j := s.jobs[a.Job]
	if j == nil {
		return fairlead.ErrNotFound
	}
	if err := life.Allowed(&j.Job, a); err != nil {
		return err
	}
	s.note(life.AlterEvent(a, now))
	switch a.Verb {
	case fairlead.VerbCancel:
		s.cancel(j, a.Cause, now)
	case fairlead.VerbHold:
		s.withdrawn(j, "held", now)
		j.Held = true
		j.State = life.State(&j.Job)
	case fairlead.VerbRelease:
		j.Held = false
		j.State = life.State(&j.Job)
		s.waited(j, "released", now)
	case fairlead.VerbRequeue:
		s.requeue(j, now)
	case fairlead.VerbPrioritise:
		s.withdrawn(j, "priority changed", now)
		life.Raise(&j.Job, a)
		s.waited(j, "priority changed", now)
	case fairlead.VerbMove:
		s.withdrawn(j, "moved to "+a.Pool, now)
		s.account(j.Pool).Waiting -= int64(j.Waiting)
		life.Move(&j.Job, a)
		s.account(j.Pool).Waiting += int64(j.Waiting)
		s.waited(j, "moved to "+a.Pool, now)
	}
	return nil
}

// withdrawn tells the feed that none of the job's tasks waits any more.
func (s *Store) withdrawn(j *job, why string, now time.Time) {
	if life.Eligible(&j.Job) {
		s.feed.Add(fairlead.Change{What: fairlead.Withdrawn, Job: life.Header(&j.Job), State: j.State, Reason: why, At: now})
	}
}

func (s *Store) cancel(j *job, cause string, now time.Time) {
	s.withdrawn(j, cause, now)
	waiting := j.Waiting
	if !life.Cancel(&j.Job, cause, now) {
		return
	}
	s.account(j.Pool).Waiting -= int64(waiting)
	for _, i := range j.returned {
		j.tasks[i].State = fairlead.Cancelled
	}
	j.returned, j.next = nil, j.Tasks
	s.stop(j, cause, now)
	if j.State.Ended() {
		s.ended(j, now)
	}
}

// stop tells the feed which tasks of the job have to be stopped.
func (s *Store) stop(j *job, why string, now time.Time) {
	if j.Running == 0 {
		return
	}
	s.feed.Add(fairlead.Change{What: fairlead.Stop, Job: life.Header(&j.Job), State: j.State, Reason: why, Runs: j.runs(), At: now})
}

// requeue lets what ran, runs or was cancelled wait again.
func (s *Store) requeue(j *job, now time.Time) {
	if j.State.Ended() {
		life.Reset(&j.Job)
		j.returned, j.next = nil, 0
		for _, i := range slices.Sorted(maps.Keys(j.tasks)) {
			t := j.tasks[i]
			*t = fairlead.Task{Job: t.Job, Index: t.Index, Number: t.Number, Attempt: t.Attempt, State: fairlead.Waiting}
			j.returned = append(j.returned, i)
		}
		j.next = j.firstFresh()
		s.account(j.Pool).Waiting += int64(j.Waiting)
		s.waited(j, "requeued", now)
		return
	}
	for _, t := range j.tasks {
		t.Requeue = t.Requeue || t.State == fairlead.Running
	}
	s.stop(j, "requeued", now)
}

// firstFresh is the first index from which on no task has ever started; tasks start
// in order of index.
func (j *job) firstFresh() int {
	n := 0
	for i := range j.tasks {
		n = max(n, i+1)
	}
	return n
}

// Usage implements fairlead.Accountant.
func (s *Store) Usage(ctx context.Context) (fairlead.Accounts, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return fairlead.Accounts{}, err
	}
	defer s.mu.Unlock()
	out := fairlead.Accounts{HalfLife: s.clock.HalfLife(), AsOf: now, Pools: map[string]fairlead.Account{}}
	growth := life.Decay(s.clock, now)
	for path, a := range s.accounts {
		c := *a
		c.Used, c.Seen = c.Used/growth, c.Seen/growth
		out.Pools[path] = c
	}
	return out, nil
}

// SetHalfLife implements fairlead.Accountant.
func (s *Store) SetHalfLife(ctx context.Context, halfLife time.Duration) error {
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.rebase(now, halfLife)
	return nil
}

// rebase expresses the amounts of all pools as of now.
func (s *Store) rebase(now time.Time, halfLife time.Duration) {
	var amount func(float64) float64
	s.clock, amount, _ = s.clock.Rebase(now, halfLife)
	for _, a := range s.accounts {
		a.Used, a.Seen = amount(a.Used), amount(a.Seen)
	}
}

// Recount implements fairlead.Accountant.
func (s *Store) Recount(ctx context.Context) (map[string]fairlead.Counters, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := map[string]fairlead.Counters{}
	for _, j := range s.jobs {
		c := out[j.Pool]
		c.Waiting += int64(j.Waiting)
		c.Running += int64(j.Running)
		out[j.Pool] = c
	}
	return out, nil
}

// note keeps an event.
func (s *Store) note(e fairlead.Event) { s.events[e.Job] = append(s.events[e.Job], e) }

// Events implements fairlead.Journal.
func (s *Store) Events(ctx context.Context, id int64) ([]fairlead.Event, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.events[id]), nil
}

// Record implements fairlead.Journal.
func (s *Store) Record(ctx context.Context, events []fairlead.Event) error {
	if _, err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, e := range events {
		s.note(e)
	}
	return nil
}

// Settings implements fairlead.Settings.
func (s *Store) Settings(ctx context.Context) (map[string]string, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return maps.Clone(s.settings), nil
}

// Set implements fairlead.Settings.
func (s *Store) Set(ctx context.Context, key, value string) error {
	if _, err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.set(key, value)
	return nil
}
