package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Submit implements queue.Store.
func (s *Store) Submit(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error) {
	out := make([]queue.Submission, len(jobs))
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

// submit adds one job. The returned error is about the transaction, and the error in the submission is about the job.
func (t *tx) submit(in *queue.Job) (sub queue.Submission, err error) {
	r := &row{Job: *in}
	if sub.Err = r.Check(); sub.Err != nil {
		return sub, nil
	}
	if r.Key != "" {
		if id, digest, err := t.keyed(&r.Job); err != nil || id > 0 {
			return life.Keyed(&r.Job, id, digest), err
		}
	}
	waitsFor, bad, err := t.dependencies(r)
	if err != nil || bad != nil {
		return queue.Submission{Err: bad}, err
	}
	life.Admit(&r.Job, 0, len(waitsFor), t.now)
	if err := t.insert(r); err != nil {
		return sub, err
	}
	r.Digest = "" // stored with the key
	if err := t.await(r.ID, waitsFor); err != nil {
		return sub, err
	}
	t.ledger.count(r.pool, r.Tasks, 0)
	if r.Tasks == 1 && r.Begin.IsZero() {
		t.then(func(m *memory) { m.fresh.keep(&r.Job, r.pool) })
	}
	return queue.Submission{ID: r.ID}, t.waited(r, "submitted")
}

// keyed returns the job that already has the key, with the digest of its submission; 0 if there is none, or if that job
// does not count.
func (t *tx) keyed(j *queue.Job) (id int64, digest string, err error) {
	stmt := t.conn.Prep(`SELECT job, digest FROM jobkey WHERE user = ? AND key = ?`)
	stmt.BindText(1, j.User)
	stmt.BindText(2, j.Key)
	defer stmt.Reset()
	found, err := stmt.Step()
	if err != nil || !found {
		return 0, "", err
	}
	id, digest = stmt.ColumnInt64(0), stmt.ColumnText(1)
	if j.KeyUntilEnd {
		if state, err := t.stateOf(id); err != nil || state.Ended() {
			return 0, "", err
		}
	}
	return id, digest, nil
}

// Keyed implements queue.KeyReader.
func (s *Store) Keyed(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error) {
	out := make([]queue.Submission, len(jobs))
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		t := &tx{conn: conn}
		for i, j := range jobs {
			if j.Key == "" {
				continue
			}
			id, digest, err := t.keyed(j)
			if err != nil {
				return err
			}
			if id > 0 {
				out[i] = life.Keyed(j, id, digest)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// dependencies returns the jobs that must end first; the second result is an error in one of them.
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

func (t *tx) stateOf(id int64) (queue.State, error) {
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
	if r.pool, err = t.numbers.pool(r.Pool, r.User); err != nil {
		return err
	}
	if r.requestID, err = t.numbers.requestID(r.Request); err != nil {
		return err
	}
	blob, err := specOf(&r.Job)
	if err != nil {
		return err
	}
	b := binder{stmt: t.conn.Prep(`INSERT INTO job (pool, shape, state, user, kind, priority, begin, most, tasks, next,
		held, pending, waiting, submitted, spec) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)`)}
	j := &r.Job
	b.int64(r.pool).int64(r.requestID).int64(stateNumber(j.State)).text(j.User).text(j.Kind).text(j.Priority)
	b.times(j.Begin).ints(j.MaxRunning, j.Tasks).bool(j.Held).ints(j.Pending, j.Waiting).times(j.Submitted)
	b.stmt.BindBytes(b.n+1, blob)
	if err := exec(b.stmt); err != nil {
		return err
	}
	j.ID = t.conn.LastInsertRowID()
	if j.Key == "" {
		return nil
	}
	b = binder{stmt: t.conn.Prep(`INSERT OR REPLACE INTO jobkey (user, key, job, digest) VALUES (?, ?, ?, ?)`)}
	return exec(b.text(j.User).text(j.Key).int64(j.ID).text(j.Digest).stmt)
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

// awaitedAnew records a job on which others depend, for this transaction and later.
func (t *tx) awaitedAnew(on int64) {
	if t.awaited == nil {
		t.awaited = map[int64]bool{}
	}
	t.awaited[on] = true
	t.then(func(m *memory) { m.awaited[on]++ })
}
