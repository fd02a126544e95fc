package postgres

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// leaseGang leases all tasks of a gang, or none.
func (t *tx) leaseGang(r *row, w fairlead.Want, ttl time.Duration, held leases) (g fairlead.Grant, err error) {
	var tasks []*fairlead.Task
	if r.Tasks > 1 {
		if tasks, err = t.tasksOf(r, ""); err != nil {
			return g, err
		}
	}
	if !life.Due(&r.Job, w, tasks, t.now) {
		g.Waiting, err = t.waits(r)
		return g, err
	}
	tasks, g.Gang = life.LeaseGang(&r.Job, w, tasks, t.now, t.now.Add(ttl))
	for _, k := range tasks {
		t.saveTask(r, k)
		held.add(k)
	}
	r.returned, r.next = 0, r.Tasks
	t.count(r.pool, -r.Gang, +r.Gang)
	t.save(r)
	return g, nil
}

// regroup sees to the other tasks of a gang when an attempt has ended, and been noted.
func (t *tx) regroup(r *row, k *fairlead.Task, p life.Parting) error {
	switch {
	case p.Apart(&r.Job):
		others, err := t.running(r)
		if err != nil {
			return err
		}
		t.tell(p.Change(&r.Job, k, runsOf(others), t.now))
		t.note(p.Event(&r.Job, k, t.now))
	case life.Together(&r.Job):
		return t.gather(r)
	}
	return nil
}

// gather lets all tasks of a gang wait again.
func (t *tx) gather(r *row) error {
	tasks, err := t.tasksOf(r, "")
	if err != nil {
		return err
	}
	more, undone := life.Gather(&r.Job, tasks, t.now)
	t.count(r.pool, more, 0)
	for _, e := range undone {
		t.note(e)
	}
	for _, k := range tasks {
		t.saveTask(r, k)
	}
	r.returned = r.Tasks
	t.save(r)
	return t.waited(r, "again")
}

// running are the tasks of a job that run.
func (t *tx) running(r *row) ([]*fairlead.Task, error) {
	if r.Tasks == 1 {
		return []*fairlead.Task{&r.one}, nil
	}
	return t.tasksOf(r, `AND t_state = 3`)
}

func runsOf(tasks []*fairlead.Task) (runs []fairlead.Run) {
	for _, k := range tasks {
		runs = append(runs, life.Run(k))
	}
	return runs
}
