package sqlite

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Submit implements fairlead.Store.
func (s *Store) Submit(ctx context.Context, jobs []*fairlead.Job) ([]fairlead.Submission, error) {
	out := make([]fairlead.Submission, len(jobs))
	err := s.write(ctx, true, func(t *tx) error {
		for i, j := range jobs {
			sub, err := t.submit(j)
			if err != nil {
				return err
			}
			out[i] = sub
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// submit adds one job. The error is for the transaction; what is wrong with the job
// is in the submission.
func (t *tx) submit(in *fairlead.Job) (sub fairlead.Submission, err error) {
	r := &row{Job: *in}
	if sub.Err = r.Check(); sub.Err != nil {
		return sub, nil
	}
	if r.Key != "" {
		if sub.ID, err = t.keyed(r); err != nil || sub.ID > 0 {
			sub.Existing = true
			return sub, err
		}
	}
	waitsFor, bad, err := t.dependencies(r)
	if err != nil || bad != nil {
		return fairlead.Submission{Err: bad}, err
	}
	life.Admit(&r.Job, 0, len(waitsFor), t.now)
	if err := t.insert(r); err != nil {
		return sub, err
	}
	if err := t.await(r.ID, waitsFor); err != nil {
		return sub, err
	}
	t.count(r.pool, r.Tasks, 0)
	if r.Tasks == 1 && r.Begin.IsZero() {
		t.then(func(s *Store) { s.fresh.keep(&r.Job, r.pool) })
	}
	return fairlead.Submission{ID: r.ID}, t.waited(r, "submitted")
}

// keyed returns the job that has the key of another one, 0 if there is none, or that does
// not count.
func (t *tx) keyed(r *row) (int64, error) {
	stmt := t.conn.Prep(`SELECT job FROM jobkey WHERE user = ? AND key = ?`)
	stmt.BindText(1, r.User)
	stmt.BindText(2, r.Key)
	defer stmt.Reset()
	found, err := stmt.Step()
	if err != nil || !found {
		return 0, err
	}
	id := stmt.ColumnInt64(0)
	if r.KeyUntilEnd {
		if state, err := t.stateOf(id); err != nil || state.Ended() {
			return 0, err
		}
	}
	return id, nil
}

// dependencies returns the jobs that have to end before; bad is what is wrong with
// them.
func (t *tx) dependencies(r *row) (waitsFor []int64, bad, err error) {
	for _, d := range r.After {
		state, err := t.stateOf(d.Job)
		if err != nil {
			return nil, nil, err
		}
		wait, bad := d.Wait(state)
		if bad != nil {
			return nil, bad, nil
		}
		if wait {
			waitsFor = append(waitsFor, d.Job)
		}
	}
	return waitsFor, nil, nil
}

func (t *tx) stateOf(id int64) (fairlead.State, error) {
	stmt := t.conn.Prep(`SELECT state FROM job WHERE id = ?`)
	stmt.BindInt64(1, id)
	defer stmt.Reset()
	found, err := stmt.Step()
	if err != nil || !found {
		return "", err
	}
	return life.StateOf(stmt.ColumnInt(0)), nil
}

func (t *tx) insert(r *row) (err error) {
	if r.pool, err = t.pool(r.Pool); err != nil {
		return err
	}
	if r.shape, err = t.shape(r.Request); err != nil {
		return err
	}
	blob, err := specOf(&r.Job)
	if err != nil {
		return err
	}
	b := binder{stmt: t.conn.Prep(`INSERT INTO job (pool, shape, state, user, kind, priority, begin, most, tasks, next,
		held, pending, waiting, submitted, spec) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)`)}
	j := &r.Job
	b.int64(r.pool).int64(r.shape).int64(stateNumber(j.State)).text(j.User).text(j.Kind).text(j.Priority)
	b.times(j.Begin).ints(j.Most, j.Tasks).bool(j.Held).ints(j.Pending, j.Waiting).times(j.Submitted)
	b.stmt.BindBytes(b.n+1, blob)
	if err := exec(b.stmt); err != nil {
		return err
	}
	j.ID = t.conn.LastInsertRowID()
	if j.Key == "" {
		return nil
	}
	b = binder{stmt: t.conn.Prep(`INSERT OR REPLACE INTO jobkey (user, key, job) VALUES (?, ?, ?)`)}
	return exec(b.text(j.User).text(j.Key).int64(j.ID).stmt)
}

// await records that a job waits for others.
func (t *tx) await(id int64, waitsFor []int64) error {
	for _, on := range waitsFor {
		b := binder{stmt: t.conn.Prep(`INSERT OR IGNORE INTO depends (on_job, job) VALUES (?, ?)`)}
		if err := exec(b.int64(on).int64(id).stmt); err != nil {
			return err
		}
		t.awaitedAnew(on)
	}
	return nil
}

// awaitedAnew notes a job that others depend on, in this transaction and later.
func (t *tx) awaitedAnew(on int64) {
	if t.awaited == nil {
		t.awaited = map[int64]bool{}
	}
	t.awaited[on] = true
	t.then(func(s *Store) { s.awaited[on]++ })
}

// waited tells the feed that the job's tasks wait, if they may be leased.
func (t *tx) waited(r *row, why string) error {
	if !life.Eligible(&r.Job) {
		return nil
	}
	waits, err := t.waits(r)
	t.tell(fairlead.Change{What: fairlead.Waited, Job: life.Header(&r.Job), Waits: waits, State: r.State, Reason: why})
	return err
}

// waits sums up the tasks that wait by the instant from which they may start.
func (t *tx) waits(r *row) ([]fairlead.Waits, error) { return waitsOf(t.conn, r) }
