package sqlite

import (
	"errors"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// leaseGang leases all tasks of a gang, or none.
func (t *tx) leaseGang(w fairlead.Want, ttl time.Duration) (g fairlead.Grant, err error) {
	r, err := t.load(w.Job)
	if err != nil || r == nil || !life.Eligible(&r.Job) {
		return g, err
	}
	started, err := tasksOf(t.conn, r, "")
	if err != nil {
		return g, err
	}
	tasks := pointers(started)
	if !life.Due(&r.Job, w, tasks, t.now) {
		g.Waiting, err = t.waits(r)
		return g, err
	}
	tasks, g.Gang = life.LeaseGang(&r.Job, w, tasks, t.now, t.now.Add(ttl))
	for i, k := range tasks {
		if err := t.saveTask(r, k); err != nil {
			return g, err
		}
		t.hold(r.pool, g.Gang[i], w.Charge)
	}
	r.returned, r.next = 0, r.Tasks
	t.count(r.pool, -r.Gang, +r.Gang)
	return g, t.save(r)
}

func pointers(tasks []fairlead.Task) []*fairlead.Task {
	out := make([]*fairlead.Task, len(tasks))
	for i := range tasks {
		out[i] = &tasks[i]
	}
	return out
}

// regroup sees to the other tasks of a gang when an attempt has ended, and been written.
func (t *tx) regroup(r *row, k *fairlead.Task, p life.Parting) error {
	switch {
	case p.Apart(&r.Job):
		others, err := t.running(r)
		if err != nil {
			return err
		}
		var runs []fairlead.Run
		for i := range others {
			runs = append(runs, life.Run(&others[i]))
		}
		t.tell(p.Change(&r.Job, k, runs, t.now))
		return t.note(p.Event(&r.Job, k, t.now))
	case life.Together(&r.Job):
		return t.gather(r)
	}
	return nil
}

// gather lets all tasks of a gang wait again.
func (t *tx) gather(r *row) error {
	tasks, err := tasksOf(t.conn, r, "")
	if err != nil {
		return err
	}
	more, undone := life.Gather(&r.Job, pointers(tasks), t.now)
	t.count(r.pool, more, 0)
	for _, e := range undone {
		err = errors.Join(err, t.note(e))
	}
	for i := range tasks {
		err = errors.Join(err, t.saveTask(r, &tasks[i]))
	}
	r.returned = r.Tasks
	return errors.Join(err, t.waited(r, "again"))
}
