package sqlite

import (
	"context"
	"errors"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Lease implements fairlead.Store.
func (s *Store) Lease(ctx context.Context, holder string, wants []fairlead.Want, ttl time.Duration) ([]fairlead.Grant, error) {
	var out []fairlead.Grant
	err := s.write(ctx, false, func(t *tx) (err error) {
		out, err = t.toll(wants, func(wants []fairlead.Want, out []fairlead.Grant) error { return t.grantAll(holder, wants, out, ttl) })
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// grantAll leases what is wanted, or others in its place.
func (t *tx) grantAll(holder string, wants []fairlead.Want, out []fairlead.Grant, ttl time.Duration) (err error) {
	lost := false
	for i, w := range wants {
		if out[i], err = t.grant(holder, w, ttl); err != nil {
			return err
		}
		lost = lost || out[i].Lease == nil && len(w.Else) > 0
	}
	if lost {
		return t.grantOthers(holder, wants, out, ttl)
	}
	return nil
}

func (t *tx) grant(holder string, w fairlead.Want, ttl time.Duration) (fairlead.Grant, error) {
	if len(w.Nodes) > 0 {
		return t.leaseGang(w, ttl)
	}
	l, err := t.leaseOne(holder, w, ttl)
	if l == nil && err == nil {
		return t.leaseTask(holder, w, ttl)
	}
	return fairlead.Grant{Lease: l}, err
}

// grantOthers leases other jobs that lost wants name.
func (t *tx) grantOthers(holder string, wants []fairlead.Want, out []fairlead.Grant, ttl time.Duration) error {
	tried := map[int64]bool{} // whoever could not have one, others cannot either
	for _, w := range wants {
		tried[w.Job] = true
	}
	for i, w := range wants {
		if out[i].Lease != nil || len(w.Nodes) > 0 || len(w.Else) == 0 {
			continue
		}
		if r, err := t.load(w.Job); err != nil || r != nil && r.Tasks > 1 && !r.State.Ended() {
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
			l, err := t.leaseOne(holder, fairlead.Want{Job: id, Charge: w.Charge}, ttl)
			if err != nil {
				return err
			}
			if l != nil {
				out[i] = fairlead.Grant{Lease: l}
				break
			}
		}
	}
	return nil
}

// leaseOne leases a job that has one task; nil if the job is not of that kind or may
// not start. A query and an update cost less than an update that returns columns.
func (t *tx) leaseOne(holder string, w fairlead.Want, ttl time.Duration) (*fairlead.Lease, error) {
	id := w.Job
	j, pool, attempt, err := t.ready(id)
	if err != nil || j == nil {
		return nil, err
	}
	j.State, j.Waiting, j.Running = fairlead.Running, 0, 1
	if j.Started.IsZero() {
		j.Started = t.now
	}
	b := binder{stmt: t.conn.Prep(`UPDATE job SET state = 3, waiting = 0, running = 1, next = 1, returned = 0, attempt = ?,
		holder = ?, t_state = 3, t_begin = 0, t_started = ?, t_ended = 0, outcome = '', started = ?, charge = ?
		WHERE id = ? AND state = 2`)}
	b.ints(attempt).text(holder).times(t.now, j.Started).float(w.Charge).int64(id)
	if err := exec(b.stmt); err != nil || t.conn.Changes() == 0 {
		return nil, err
	}
	l := &fairlead.Lease{
		Ref: fairlead.Ref{JobID: id, Attempt: attempt}, Job: j, Number: j.Numbers().At(0),
		Holder: holder, Started: t.now, Until: t.now.Add(ttl),
	}
	t.count(pool, -1, +1)
	t.hold(pool, l, w.Charge)
	return l, nil
}

// ready returns a job that has one task, which may start now, and the number of its
// next attempt; nil if the job is not of that kind or may not start.
func (t *tx) ready(id int64) (j *fairlead.Job, pool int64, attempt int, err error) {
	if f, ok := t.takeFresh(id); ok && f.job.State == fairlead.Waiting {
		return f.job, f.pool, 1, nil
	}
	b := binder{stmt: t.conn.Prep(`SELECT pool, shape, user, kind, priority, spec, submitted, started, attempt FROM job
		WHERE id = ?1 AND state = 2 AND tasks = 1 AND begin <= ?2 AND t_begin <= ?2`)}
	b.int64(id).times(t.now)
	defer b.stmt.Reset()
	found, err := b.stmt.Step()
	if err != nil || !found {
		return nil, 0, 0, err
	}
	s := scanner{stmt: b.stmt}
	pool = s.int64()
	j = &fairlead.Job{ID: id, Tasks: 1, Pool: t.path(pool), Request: t.request(s.int64())}
	j.User, j.Kind, j.Priority = s.text(), s.text(), s.text()
	err = life.ReadSpec(s.bytes(), j)
	j.Submitted, j.Started = s.time(), s.time()
	return j, pool, s.int() + 1, err
}

// hold keeps in memory who holds a task, and what it takes to end it.
func (t *tx) hold(pool int64, l *fairlead.Lease, charge float64) {
	kept := &lease{ref: l.Ref, holder: l.Holder, until: l.Until, started: l.Started, charge: charge, pool: pool, job: life.Header(l.Job)}
	t.then(func(s *Store) { s.runs[taskKey{l.JobID, l.Task}] = kept })
}

// leaseTask leases a task of any job.
func (t *tx) leaseTask(holder string, w fairlead.Want, ttl time.Duration) (fairlead.Grant, error) {
	r, err := t.load(w.Job)
	if err != nil || r == nil || !life.Eligible(&r.Job) {
		return fairlead.Grant{}, err
	}
	k, err := t.next(r)
	if err != nil {
		return fairlead.Grant{}, err
	}
	if k == nil {
		waits, err := t.waits(r)
		return fairlead.Grant{Waiting: waits}, err
	}
	life.Lease(k, holder, w.Charge, t.now, t.now.Add(ttl))
	life.Start(&r.Job, t.now)
	t.count(r.pool, -1, +1)
	l := life.NewLease(&r.Job, k)
	t.hold(r.pool, l, w.Charge)
	return fairlead.Grant{Lease: l}, errors.Join(t.saveTask(r, k), t.save(r))
}

// next takes the task of the job that starts next, nil if none may.
func (t *tx) next(r *row) (*fairlead.Task, error) {
	if r.Gang > 1 || r.Most > 0 && r.Running >= r.Most {
		return nil, nil
	}
	if r.returned > 0 {
		k, err := t.nextReturned(r)
		if err != nil || k != nil {
			r.returned--
			return k, err
		}
	}
	if r.next == r.Tasks || r.Begin.After(t.now) {
		return nil, nil
	}
	k := &fairlead.Task{Job: r.ID, Index: r.next, Number: r.Numbers().At(r.next)}
	r.next++
	return k, nil
}

// nextReturned is the first task that waits again and is due.
func (t *tx) nextReturned(r *row) (*fairlead.Task, error) {
	if r.Tasks == 1 {
		if r.one.Begin.After(t.now) {
			return nil, nil
		}
		return &r.one, nil
	}
	tasks, err := tasksOf(t.conn, r, `AND t_state = 2 AND t_begin <= ?`, life.Nanos(t.now))
	if err != nil || len(tasks) == 0 {
		return nil, err
	}
	return &tasks[0], nil
}

// waitsOf sums up the tasks of a job that wait by the instant from which they may
// start.
func waitsOf(conn *sqlite.Conn, r *row) ([]fairlead.Waits, error) {
	var w []fairlead.Waits
	if fresh := r.Tasks - r.next; fresh > 0 && r.Waiting > 0 {
		w = append(w, fairlead.Waits{Tasks: fresh, Begin: r.Begin})
	}
	if r.returned == 0 {
		return w, nil
	}
	if r.Tasks == 1 {
		return life.AddWaits(w, r.one.Begin), nil
	}
	tasks, err := tasksOf(conn, r, `AND t_state = 2`)
	for _, k := range tasks {
		w = life.AddWaits(w, k.Begin)
	}
	return w, err
}
