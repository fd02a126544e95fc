package memory

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// leaseGang leases all tasks of a gang, or none.
func (s *Store) leaseGang(j *job, w queue.Want, now, until time.Time) (g queue.Grant) {
	if !life.Due(&j.Job, w, j.started(), now) {
		if life.Eligible(&j.Job) {
			g.Waiting = j.waits()
		}
		return g
	}
	tasks, leases := life.LeaseGang(&j.Job, w, j.started(), now, until)
	for _, t := range tasks {
		j.tasks[t.Index] = t
	}
	g.Gang = leases
	j.returned, j.next = nil, j.Tasks
	a := s.ledger.account(j.Pool)
	a.Waiting -= int64(j.Gang)
	a.Running += int64(j.Gang)
	return g
}

// regroup handles the other tasks of a gang after an attempt has ended.
func (s *Store) regroup(j *job, t *queue.Task, p life.Parting, now time.Time) {
	switch {
	case p.Apart(&j.Job):
		s.journal.note(p.Event(&j.Job, t, now))
		s.feed.Add(p.Change(&j.Job, t, j.runs(), now))
	case life.Together(&j.Job):
		more, undone := life.Gather(&j.Job, j.started(), now)
		s.ledger.account(j.Pool).Waiting += int64(more)
		s.journal.noteAll(undone)
		j.returned = slices.Sorted(maps.Keys(j.tasks))
		s.waited(j, "again", now)
	}
}
