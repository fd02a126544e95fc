package memory

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// leaseGang leases all tasks of a gang, or none.
func (s *Store) leaseGang(j *job, w fairlead.Want, now, until time.Time) (g fairlead.Grant) {
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
	a := s.account(j.Pool)
	a.Waiting -= int64(j.Gang)
	a.Running += int64(j.Gang)
	return g
}

// started are the tasks of the job that have started at least once, by index.
func (j *job) started() []*fairlead.Task {
	var out []*fairlead.Task
	for _, i := range slices.Sorted(maps.Keys(j.tasks)) {
		out = append(out, j.tasks[i])
	}
	return out
}

// regroup sees to the other tasks of a gang when an attempt has ended.
func (s *Store) regroup(j *job, t *fairlead.Task, p life.Parting, now time.Time) {
	switch {
	case p.Apart(&j.Job):
		s.note(p.Event(&j.Job, t, now))
		s.feed.Add(p.Change(&j.Job, t, j.runs(), now))
	case life.Together(&j.Job):
		more, undone := life.Gather(&j.Job, j.started(), now)
		s.account(j.Pool).Waiting += int64(more)
		for _, e := range undone {
			s.note(e)
		}
		j.returned = slices.Sorted(maps.Keys(j.tasks))
		s.waited(j, "again", now)
	}
}

// runs are the tasks of the job that run, by index.
func (j *job) runs() (runs []fairlead.Run) {
	for _, t := range j.started() {
		if t.State == fairlead.Running {
			runs = append(runs, life.Run(t))
		}
	}
	return runs
}
