package sqlite

import (
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// waited reports to the feed that the job's tasks wait, if they may be leased.
func (t *tx) waited(r *row, why string) error {
	if !life.Eligible(&r.Job) {
		return nil
	}
	waits, err := t.waits(r)
	t.report(queue.Change{What: queue.Waited, Job: life.Header(&r.Job), Waits: waits, State: r.State, Reason: why})
	return err
}

// withdrawn reports to the feed that none of the job's tasks waits any more.
func (t *tx) withdrawn(r *row, why string) {
	if life.Eligible(&r.Job) {
		t.report(queue.Change{What: queue.Withdrawn, Job: life.Header(&r.Job), State: r.State, Reason: why})
	}
}

// waits groups the waiting tasks of a job by the instant from which they may start.
func (t *tx) waits(r *row) ([]queue.Waits, error) {
	var w []queue.Waits
	if fresh := r.Tasks - r.next; fresh > 0 && r.Waiting > 0 {
		w = append(w, queue.Waits{Tasks: fresh, Begin: r.Begin})
	}
	if r.returned == 0 {
		return w, nil
	}
	if r.Tasks == 1 {
		return life.AddWaits(w, r.one.Begin), nil
	}
	tasks, err := tasksOf(t.conn, r, `AND t_state = 2`)
	for _, k := range tasks {
		w = life.AddWaits(w, k.Begin)
	}
	return w, err
}
