package postgres

import (
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// reportLeased reports the leases to the other servers.
func (t *tx) reportLeased(wants []queue.Want, grants []queue.Grant) {
	at := map[int64]int{} // the change of a job
	add := func(l *queue.Lease, charge float64) {
		i, known := at[l.JobID]
		if !known {
			i = len(t.changes)
			at[l.JobID] = i
			t.report(queue.Change{What: queue.Leased, Job: life.Header(l.Job), State: queue.Running})
		}
		t.changes[i].Runs = append(t.changes[i].Runs,
			queue.Run{Ref: l.Ref, Holder: l.Holder, Started: l.Started, Charge: charge})
	}
	for i, g := range grants {
		if g.Lease != nil {
			add(g.Lease, wants[i].Charge)
		}
		for _, l := range g.Gang {
			add(l, wants[i].Charge)
		}
	}
}

// reportEnded reports an ended attempt to the other servers.
func (t *tx) reportEnded(r *row, k *queue.Task, ended time.Time, learns bool) {
	run := life.Run(k)
	run.Ended, run.Learns = ended, learns
	t.report(queue.Change{What: queue.Ended, Job: life.Header(&r.Job), Runs: []queue.Run{run}, State: r.State})
}

// withdrawn reports to the feed that none of the job's tasks waits any more.
func (t *tx) withdrawn(r *row, why string) {
	if life.Eligible(&r.Job) {
		t.report(queue.Change{What: queue.Withdrawn, Job: life.Header(&r.Job), State: r.State, Reason: why})
	}
}

// stop reports to the feed which tasks of the job must be stopped.
func (t *tx) stop(r *row, why string) error {
	if r.Running == 0 {
		return nil
	}
	tasks, err := t.running(r)
	t.report(queue.Change{What: queue.Stop, Job: life.Header(&r.Job), State: r.State, Reason: why, Runs: runsOf(tasks)})
	return err
}

// waits groups the waiting tasks of a job by the instant from which they may start.
func (t *tx) waits(r *row) (w []queue.Waits, err error) {
	if fresh := r.Tasks - r.next; fresh > 0 && r.Waiting > 0 {
		w = append(w, queue.Waits{Tasks: fresh, Begin: r.Begin})
	}
	if r.returned == 0 {
		return w, nil
	}
	if r.Tasks == 1 {
		return life.AddWaits(w, r.one.Begin), nil
	}
	tasks, err := t.tasks.read(r, `AND t_state = 2`)
	for _, k := range tasks {
		w = life.AddWaits(w, k.Begin)
	}
	return w, err
}

// waited reports to the feed that the job's tasks wait, if they may be leased.
func (t *tx) waited(r *row, why string) error {
	if !life.Eligible(&r.Job) {
		return nil
	}
	waits, err := t.waits(r)
	t.report(queue.Change{What: queue.Waited, Job: life.Header(&r.Job), Waits: waits, State: r.State, Reason: why})
	return err
}
