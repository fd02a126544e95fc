package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Expire implements fairlead.Store.
func (s *Store) Expire(ctx context.Context, holder string) ([]fairlead.Ref, error) {
	var out []fairlead.Ref
	err := s.write(ctx, func(t *tx) error {
		out = nil
		if holder == "" && s.wasAway() {
			return nil
		}
		due, err := t.due(holder)
		if err != nil {
			return err
		}
		for _, ref := range due {
			r, k, stale := t.holder(ref)
			if stale != nil {
				continue
			}
			out = append(out, ref)
			if err := t.lose(r, k, ref); err != nil {
				return err
			}
		}
		t.forget(out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *tx) lose(r *row, k *fairlead.Task, ref fairlead.Ref) error {
	if err := t.chargeTask(r, k, t.now, false); err != nil {
		return err
	}
	parting := life.Part(&r.Job, life.HowLost)
	again := life.Lose(&r.Job, k, t.now)
	t.tell(life.LostChange(&r.Job, k, ref, t.now))
	t.note(life.LostEvent(k, again, t.now))
	return t.back(r, k, again, parting)
}

// dueText reads which leases of some jobs are those of a holder, or have run out.
const dueText = `SELECT id, 0, attempt FROM @.job WHERE id = ANY($3) AND state IN (3, 7) AND tasks = 1 AND CASE $1 WHEN '' THEN until <= $2 ELSE holder = $1 END
	UNION ALL SELECT job, idx, attempt FROM @.task WHERE job = ANY($3) AND t_state = 3 AND CASE $1 WHEN '' THEN until <= $2 ELSE holder = $1 END
	ORDER BY 1, 2`

// lookText reads that of the jobs that are to be looked at, which it takes out of lease: those of
// a holder, or those of which a lease may have run out. Whoever else takes them meanwhile is
// waited for. What is due is found by the index by until: the rest is not gone through, and there are
// as many rows as calls within the length of a lease.
var (
	lookText = `WITH l AS (DELETE FROM @.lease WHERE id = ANY(ARRAY(SELECT id FROM @.lease WHERE $which ORDER BY until, id FOR UPDATE)) RETURNING jobs),
		i AS (SELECT unnest(jobs) AS id FROM l) ` + strings.ReplaceAll(dueText, "$3", "ARRAY(SELECT id FROM i)")
	lookDue = strings.Replace(lookText, "$which", "until <= $2", 1)
	lookOf  = strings.Replace(lookText, "$which", "holder = $1", 1)
)

// due are the attempts of a holder, or all whose lease ran out, in order. Only once their jobs
// and tasks are locked it is certain that nobody has renewed them. Who did, or leases one
// of them again, has added a row of lease that was not there to be taken.
func (t *tx) due(holder string) (due []fairlead.Ref, err error) {
	read := func(text string, more ...any) error {
		due = nil
		t.ask(text, func(r pgx.Rows) error {
			var ref fairlead.Ref
			err := r.Scan(&ref.JobID, &ref.Task, &ref.Attempt)
			due = append(due, ref)
			return err
		}, append([]any{holder, life.Nanos(t.now)}, more...)...)
		return t.do()
	}
	look := lookDue
	if holder != "" {
		look = lookOf
	}
	if err := read(look); err != nil || len(due) == 0 {
		return nil, err
	}
	var jobs []int64
	for _, ref := range due {
		if n := len(jobs); n == 0 || jobs[n-1] != ref.JobID {
			jobs = append(jobs, ref.JobID)
		}
	}
	t.askHolders(due)
	t.queue(`SELECT FROM @.task WHERE job = ANY($1) AND t_state = 3 ORDER BY job, idx FOR UPDATE`, jobs)
	err = read(dueText, jobs)
	return due, err
}
