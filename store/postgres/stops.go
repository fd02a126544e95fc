package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// StopRuns implements fairlead.Store.
func (s *Store) StopRuns(ctx context.Context, stops []fairlead.Stopped) (out []error, err error) {
	refs := make([]fairlead.Ref, len(stops))
	for i := range stops {
		refs[i] = stops[i].Ref
	}
	err = s.write(ctx, func(t *tx) error {
		out = make([]error, len(stops))
		t.askHolders(refs)
		if err := t.do(); err != nil {
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

func (t *tx) stopRun(r *row, k *fairlead.Task, stop *fairlead.Stopped) error {
	k.Stopped = true
	t.saveTask(r, k)
	t.save(r)
	reason, err := json.Marshal(&stop.Reason)
	if err != nil {
		return err
	}
	t.queue(`INSERT INTO @.stop (job, task, attempt, at, reason) VALUES ($1, $2, $3, $4, $5)`,
		stop.Ref.JobID, stop.Ref.Task, stop.Ref.Attempt, life.Nanos(stop.Reason.At), string(reason))
	t.tell(life.StopChange(&r.Job, k, stop, t.now))
	t.note(life.StopEvent(stop))
	return nil
}

// Stops implements fairlead.Store.
func (s *Store) Stops(ctx context.Context, q fairlead.StopQuery) (out []fairlead.Stopped, err error) {
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
	err = s.query(ctx, query, func(r pgx.Rows) error {
		var x fairlead.Stopped
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
