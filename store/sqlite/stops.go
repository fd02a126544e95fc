package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// StopRuns implements queue.Store.
func (s *Store) StopRuns(ctx context.Context, stops []queue.Stopped) ([]error, error) {
	return writeEach(ctx, s, stops, func(t *tx, stop queue.Stopped) (stale, err error) {
		r, k, stale, err := t.holder(stop.Ref)
		if err == nil && stale == nil && !k.Stopped {
			err = t.stopRun(r, k, &stop)
		}
		return stale, err
	})
}

func (t *tx) stopRun(r *row, k *queue.Task, stop *queue.Stopped) error {
	k.Stopped = true
	if err := t.saveTask(r, k); err != nil {
		return err
	}
	if err := t.save(r); err != nil {
		return err
	}
	reason, err := json.Marshal(&stop.Reason)
	if err != nil {
		return err
	}
	b := binder{stmt: t.conn.Prep(`INSERT INTO stop (job, task, attempt, at, reason) VALUES (?, ?, ?, ?, ?)`)}
	b.int64(stop.Ref.JobID).ints(stop.Ref.Task, stop.Ref.Attempt).times(stop.Reason.At).text(string(reason))
	if err := exec(b.stmt); err != nil {
		return err
	}
	t.report(life.StopChange(&r.Job, k, stop, t.now))
	return t.note(life.StopEvent(stop))
}

// Stops implements queue.Store.
func (s *Store) Stops(ctx context.Context, q queue.StopQuery) (out []queue.Stopped, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		query := `SELECT job, task, attempt, reason FROM stop WHERE at >= ?`
		if q.Job > 0 {
			query += ` AND job = ?`
		}
		query += ` ORDER BY id DESC`
		if q.Limit > 0 {
			query += fmt.Sprint(` LIMIT `, q.Limit)
		}
		b := binder{stmt: conn.Prep(query)}
		b.times(q.Since)
		if q.Job > 0 {
			b.int64(q.Job)
		}
		return scanAll(b.stmt, func(c *scanner) error {
			x := queue.Stopped{Ref: queue.Ref{JobID: c.int64(), Task: c.int(), Attempt: c.int()}}
			if err := json.Unmarshal([]byte(c.text()), &x.Reason); err != nil {
				return fmt.Errorf("stop of job %d: %w", x.Ref.JobID, err)
			}
			out = append(out, x)
			return nil
		})
	})
	slices.Reverse(out)
	return out, err
}
