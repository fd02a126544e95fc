package memory

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// uncancel makes the canceled tasks of the job wait again, and the jobs that were canceled with it.
func (s *Store) uncancel(j *job, a queue.Alteration, now time.Time) error {
	waitsFor, refused, err := life.Awaits(&j.Job, s.stateOf)
	if err != nil || refused != nil {
		return refused
	}
	over, tasks := j.State.Ended(), j.started()
	waiting, eligible := j.Waiting, life.Eligible(&j.Job)
	before := life.UncancelEvents(&j.Job, tasks)
	if _, refused := life.Uncancel(&j.Job, tasks, len(waitsFor)); refused != nil {
		return refused
	}
	s.journal.noteAll(before)
	s.journal.note(life.AlterEvent(&j.Job, a, now))
	j.next, j.returned = len(tasks), nil
	for _, t := range tasks {
		if t.State == queue.Waiting {
			j.returned = append(j.returned, t.Index)
		}
	}
	s.ledger.account(j.Pool).Waiting += int64(j.Waiting - waiting)
	for _, on := range waitsFor {
		if at, known := slices.BinarySearch(s.dependents[on], j.ID); !known {
			s.dependents[on] = slices.Insert(s.dependents[on], at, j.ID)
		}
	}
	if eligible { // a task that was going on has lost its node, and waits already
		s.withdrawn(j, "cancel undone", now)
	}
	s.waited(j, "cancel undone", now)
	if over {
		s.uncancelDependents(j, now)
	}
	return nil
}

// uncancelDependents brings back the jobs that were canceled because this one was.
func (s *Store) uncancelDependents(j *job, now time.Time) {
	for _, id := range slices.Clone(s.dependents[j.ID]) {
		if d := s.jobs[id]; life.Along(&d.Job) {
			s.uncancel(d, life.UncancelWith(id, j.ID), now) // if refused it stays cancelled
		}
	}
}

func (s *Store) stateOf(id int64) (queue.State, error) {
	if j := s.jobs[id]; j != nil {
		return j.State, nil
	}
	return "", nil
}
