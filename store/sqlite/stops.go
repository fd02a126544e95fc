package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// StopRuns implements fairlead.Store.
func (s *Store) StopRuns(ctx context.Context, stops []fairlead.Stopped) ([]error, error) {
	out := make([]error, len(stops))
	err := s.write(ctx, false, func(t *tx) error {
		for i := range stops {
			r, k, stale, err := t.holder(stops[i].Ref)
			if out[i] = stale; err != nil {
				return err
			} else if stale == nil && !k.Stopped {
				if err := t.stopRun(r, k, &stops[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *tx) stopRun(r *row, k *fairlead.Task, stop *fairlead.Stopped) error {
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
	t.tell(life.StopChange(&r.Job, k, stop, t.now))
	return t.note(life.StopEvent(stop))
}

// Stops implements fairlead.Store.
func (s *Store) Stops(ctx context.Context, q fairlead.StopQuery) (out []fairlead.Stopped, err error) {
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
		defer b.stmt.Reset()
		b.times(q.Since)
		if q.Job > 0 {
			b.int64(q.Job)
		}
		for {
			more, err := b.stmt.Step()
			if err != nil || !more {
				return err
			}
			c := scanner{stmt: b.stmt}
			x := fairlead.Stopped{Ref: fairlead.Ref{JobID: c.int64(), Task: c.int(), Attempt: c.int()}}
			if err := json.Unmarshal([]byte(c.text()), &x.Reason); err != nil {
				return fmt.Errorf("stop of job %d: %w", x.Ref.JobID, err)
			}
			out = append(out, x)
		}
	})
	slices.Reverse(out)
	return out, err
}
