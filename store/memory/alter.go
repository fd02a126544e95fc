package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Alter implements queue.Store.
func (s *Store) Alter(ctx context.Context, changes []queue.Alteration) ([]error, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return life.AlterAll(changes, s.jobByID, func(a queue.Alteration) (refused, err error) { return s.alter(a, now), nil })
}

// jobByID returns a job, nil if there is none.
func (s *Store) jobByID(id int64) (*queue.Job, error) {
	if j := s.jobs[id]; j != nil {
		return &j.Job, nil
	}
	return nil, nil
}

func (s *Store) alter(a queue.Alteration, now time.Time) error {
	j := s.jobs[a.Job]
	if j == nil {
		return queue.NoJob(a.Job)
	}
	if err := life.Allowed(&j.Job, a); err != nil {
		return err
	}
	if a.Verb == queue.VerbUncancel {
		return s.uncancel(j, a, now)
	}
	if a.Verb == queue.VerbRequeue && j.State.Ended() {
		s.journal.noteAll(life.ResetEvents(&j.Job, j.started()))
	}
	s.journal.note(life.AlterEvent(&j.Job, a, now))
	switch a.Verb {
	case queue.VerbCancel:
		s.cancel(j, a, now)
	case queue.VerbHold:
		s.withdrawn(j, "held", now)
		life.Hold(&j.Job, a)
	case queue.VerbRelease:
		life.LetGo(&j.Job)
		s.waited(j, "released", now)
	case queue.VerbRequeue:
		s.requeue(j, now)
	case queue.VerbPrioritise:
		s.withdrawn(j, "priority changed", now)
		life.Raise(&j.Job, a)
		s.waited(j, "priority changed", now)
	case queue.VerbLimit:
		s.withdrawn(j, "time limit changed", now)
		life.Raise(&j.Job, a)
		s.waited(j, "time limit changed", now)
	case queue.VerbMove:
		s.withdrawn(j, "moved to "+a.Pool, now)
		s.ledger.account(j.Pool).Waiting -= int64(j.Waiting)
		life.Move(&j.Job, a)
		s.ledger.accountOf(j.Pool, j.User).Waiting += int64(j.Waiting)
		s.waited(j, "moved to "+a.Pool, now)
	}
	return nil
}

// requeue makes tasks that ran, run or were canceled wait again.
func (s *Store) requeue(j *job, now time.Time) {
	if j.State.Ended() {
		life.Reset(&j.Job)
		j.returned, j.next = nil, 0
		for _, i := range slices.Sorted(maps.Keys(j.tasks)) {
			t := j.tasks[i]
			*t = queue.Task{Job: t.Job, Index: t.Index, Number: t.Number, Attempt: t.Attempt, State: queue.Waiting}
			j.returned = append(j.returned, i)
		}
		j.next = j.firstFresh()
		s.ledger.account(j.Pool).Waiting += int64(j.Waiting)
		s.waited(j, "requeued", now)
		return
	}
	for _, t := range j.tasks {
		t.Requeue = t.Requeue || t.State == queue.Running
	}
	s.stop(j, "requeued", now)
}
