package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Lease implements queue.Store.
func (s *Store) Lease(ctx context.Context, holder string, wants []queue.Want, ttl time.Duration) ([]queue.Grant, error) {
	var out []queue.Grant
	err := s.write(ctx, false, func(t *tx) (err error) {
		x := leasing{t: t, holder: holder, ttl: ttl}
		out, err = t.admit(wants, x.all)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// leasing is one call of Lease.
type leasing struct {
	t      *tx
	holder string
	ttl    time.Duration
}

// all leases the claimed jobs, or alternates.
func (x *leasing) all(wants []queue.Want, out []queue.Grant) (err error) {
	lost := false
	for i, w := range wants {
		if out[i], err = x.grant(w); err != nil {
			return err
		}
		lost = lost || out[i].Lease == nil && len(w.Else) > 0
	}
	if lost {
		return x.others(wants, out)
	}
	return nil
}

func (x *leasing) grant(w queue.Want) (queue.Grant, error) {
	if len(w.Nodes) > 0 {
		return x.gang(w)
	}
	l, err := x.one(w)
	if l == nil && err == nil {
		return x.task(w)
	}
	return queue.Grant{Lease: l}, err
}

// gang leases all tasks of a gang, or none.
func (x *leasing) gang(w queue.Want) (g queue.Grant, err error) {
	r, err := x.t.load(w.Job)
	if err != nil || r == nil || !life.Eligible(&r.Job) {
		return g, err
	}
	started, err := tasksOf(x.t.conn, r, "")
	if err != nil {
		return g, err
	}
	tasks := pointers(started)
	if !life.Due(&r.Job, w, tasks, x.t.now) {
		g.Waiting, err = x.t.waits(r)
		return g, err
	}
	tasks, g.Gang = life.LeaseGang(&r.Job, w, tasks, x.t.now, x.t.now.Add(x.ttl))
	for i, k := range tasks {
		if err := x.t.saveTask(r, k); err != nil {
			return g, err
		}
		x.keep(r.pool, g.Gang[i], w.Charge)
	}
	r.returned, r.next = 0, r.Tasks
	x.t.ledger.count(r.pool, -r.Gang, +r.Gang)
	return g, x.t.save(r)
}

// others leases alternates for lost wants.
func (x *leasing) others(wants []queue.Want, out []queue.Grant) error {
	tried := map[int64]bool{} // jobs that some want could not lease: no other want can lease them
	for _, w := range wants {
		tried[w.Job] = true
	}
	for i, w := range wants {
		if out[i].Lease != nil || len(w.Nodes) > 0 || len(w.Else) == 0 {
			continue
		}
		if r, err := x.t.load(w.Job); err != nil || r != nil && r.Tasks > 1 && !r.State.Ended() {
			if err != nil {
				return err
			}
			continue
		}
		for _, id := range w.Else {
			if tried[id] {
				continue
			}
			tried[id] = true
			l, err := x.one(queue.Want{Job: id, Charge: w.Charge})
			if err != nil {
				return err
			}
			if l != nil {
				out[i] = queue.Grant{Lease: l}
				break
			}
		}
	}
	return nil
}

// one leases a job that has one task; nil if the job has several or may not start. It uses a query and an update,
// because these cost less than an update that returns columns.
func (x *leasing) one(w queue.Want) (*queue.Lease, error) {
	id := w.Job
	j, pool, attempt, err := x.ready(id)
	if err != nil || j == nil {
		return nil, err
	}
	j.State, j.Waiting, j.Running = queue.Running, 0, 1
	if j.Started.IsZero() {
		j.Started = x.t.now
	}
	b := binder{stmt: x.t.conn.Prep(`UPDATE job SET state = 3, waiting = 0, running = 1, next = 1, returned = 0, attempt = ?,
		holder = ?, t_state = 3, t_begin = 0, t_started = ?, t_ended = 0, outcome = '', started = ?, charge = ?
		WHERE id = ? AND state = 2`)}
	b.ints(attempt).text(x.holder).times(x.t.now, j.Started).float(w.Charge).int64(id)
	if err := exec(b.stmt); err != nil || x.t.conn.Changes() == 0 {
		return nil, err
	}
	l := &queue.Lease{
		Ref: queue.Ref{JobID: id, Attempt: attempt}, Job: j, Number: j.Numbers().At(0),
		Holder: x.holder, Started: x.t.now, Until: x.t.now.Add(x.ttl),
	}
	x.t.ledger.count(pool, -1, +1)
	x.keep(pool, l, w.Charge)
	return l, nil
}

// ready returns a job with one task that may start now, and the number of its next attempt; nil if the job has several
// tasks or may not start.
func (x *leasing) ready(id int64) (j *queue.Job, pool int64, attempt int, err error) {
	if f, ok := x.t.mem.takeFresh(id); ok && f.job.State == queue.Waiting {
		return f.job, f.pool, 1, nil
	}
	b := binder{stmt: x.t.conn.Prep(`SELECT pool, shape, user, kind, priority, spec, submitted, started, attempt FROM job
		WHERE id = ?1 AND state = 2 AND tasks = 1 AND begin <= ?2 AND t_begin <= ?2`)}
	b.int64(id).times(x.t.now)
	defer b.stmt.Reset()
	found, err := b.stmt.Step()
	if err != nil || !found {
		return nil, 0, 0, err
	}
	s := scanner{stmt: b.stmt}
	pool = s.int64()
	j = &queue.Job{ID: id, Tasks: 1, Pool: x.t.numbers.path(pool), Request: x.t.numbers.request(s.int64())}
	j.User, j.Kind, j.Priority = s.text(), s.text(), s.text()
	err = life.ReadSpec(s.bytes(), j)
	j.Submitted, j.Started = s.time(), s.time()
	return j, pool, s.int() + 1, err
}

// keep records in memory who holds a task, and the data needed to end it.
func (x *leasing) keep(pool int64, l *queue.Lease, charge float64) {
	kept := &lease{ref: l.Ref, holder: l.Holder, until: l.Until, started: l.Started, charge: charge, pool: pool, job: life.Header(l.Job)}
	x.t.then(func(m *memory) { m.runs[taskKey{l.JobID, l.Task}] = kept })
}

// task leases a task of any job.
func (x *leasing) task(w queue.Want) (queue.Grant, error) {
	r, err := x.t.load(w.Job)
	if err != nil || r == nil || !life.Eligible(&r.Job) {
		return queue.Grant{}, err
	}
	k, err := x.next(r)
	if err != nil {
		return queue.Grant{}, err
	}
	if k == nil {
		waits, err := x.t.waits(r)
		return queue.Grant{Waiting: waits}, err
	}
	life.Lease(k, x.holder, w.Charge, x.t.now, x.t.now.Add(x.ttl))
	life.Start(&r.Job, x.t.now)
	x.t.ledger.count(r.pool, -1, +1)
	l := life.NewLease(&r.Job, k)
	x.keep(r.pool, l, w.Charge)
	return queue.Grant{Lease: l}, errors.Join(x.t.saveTask(r, k), x.t.save(r))
}

// next returns the task of the job that starts next, nil if none may.
func (x *leasing) next(r *row) (*queue.Task, error) {
	if r.Gang > 1 || r.MaxRunning > 0 && r.Running >= r.MaxRunning {
		return nil, nil
	}
	if r.returned > 0 {
		k, err := x.nextReturned(r)
		if err != nil || k != nil {
			r.returned--
			return k, err
		}
	}
	if r.next == r.Tasks || r.Begin.After(x.t.now) {
		return nil, nil
	}
	k := &queue.Task{Job: r.ID, Index: r.next, Number: r.Numbers().At(r.next)}
	r.next++
	return k, nil
}

// nextReturned returns the first task that waits again and is due.
func (x *leasing) nextReturned(r *row) (*queue.Task, error) {
	if r.Tasks == 1 {
		if r.one.Begin.After(x.t.now) {
			return nil, nil
		}
		return &r.one, nil
	}
	tasks, err := tasksOf(x.t.conn, r, `AND t_state = 2 AND t_begin <= ?`, life.Nanos(x.t.now))
	if err != nil || len(tasks) == 0 {
		return nil, err
	}
	return &tasks[0], nil
}
