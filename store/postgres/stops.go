package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// StopRuns implements queue.Store.
func (s *Store) StopRuns(ctx context.Context, stops []queue.Stopped) (out []error, err error) {
	refs := make([]queue.Ref, len(stops))
	for i := range stops {
		refs[i] = stops[i].Ref
	}
	err = s.writer.do(ctx, func(t *tx) error {
		out = make([]error, len(stops))
		t.askHolders(refs)
		if err := t.trip.do(); err != nil {
			return err
		}
		for i := range stops {
			r, k, stale := t.holder(stops[i].Ref)
			if out[i] = stale; stale != nil || k.Stopped {
				continue
			}
			if err := t.stopRun(r, k, &stops[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func (t *tx) stopRun(r *row, k *queue.Task, stop *queue.Stopped) error {
	k.Stopped = true
	t.tasks.save(r, k)
	t.jobs.save(r)
	reason, err := json.Marshal(&stop.Reason)
	if err != nil {
		return err
	}
	t.trip.queue(`INSERT INTO @.stop (job, task, attempt, at, reason) VALUES ($1, $2, $3, $4, $5)`,
		stop.Ref.JobID, stop.Ref.Task, stop.Ref.Attempt, life.Nanos(stop.Reason.At), string(reason))
	t.report(life.StopChange(&r.Job, k, stop, t.trip.now))
	t.note(life.StopEvent(stop))
	return nil
}

// Stops implements queue.Store.
func (s *Store) Stops(ctx context.Context, q queue.StopQuery) (out []queue.Stopped, err error) {
	query := `SELECT job, task, attempt, reason FROM @.stop WHERE at >= $1`
	args := []any{life.Nanos(q.Since)}
	if q.Job > 0 {
		query += ` AND job = $2`
		args = append(args, q.Job)
	}
	query += ` ORDER BY id DESC`
	if q.Limit > 0 {
		query += fmt.Sprint(` LIMIT `, q.Limit)
	}
	err = s.db.query(ctx, query, func(r pgx.Rows) error {
		var x queue.Stopped
		var reason string
		if err := r.Scan(&x.Ref.JobID, &x.Ref.Task, &x.Ref.Attempt, &reason); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(reason), &x.Reason); err != nil {
			return fmt.Errorf("stop of job %d: %w", x.Ref.JobID, err)
		}
		out = append(out, x)
		return nil
	}, args...)
	slices.Reverse(out)
	return out, err
}
