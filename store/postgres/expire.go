package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Expire implements queue.Store.
func (s *Store) Expire(ctx context.Context, holder string) ([]queue.Ref, error) {
	var out []queue.Ref
	err := s.writer.do(ctx, func(t *tx) error {
		out = nil
		if holder == "" && s.db.wasAway() {
			return nil
		}
		due, err := (&expiry{t, holder}).due()
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

func (t *tx) lose(r *row, k *queue.Task, ref queue.Ref) error {
	if err := t.chargeTask(r, k, t.trip.now, false); err != nil {
		return err
	}
	parting := life.Part(&r.Job, k, life.HowLost)
	again := life.Lose(&r.Job, k, t.trip.now)
	t.report(life.LostChange(&r.Job, k, ref, t.trip.now))
	t.noteAll(parting.LostEvents(k, again, t.trip.now))
	return t.returnTask(r, k, again, parting)
}

// dueText selects the leases of some jobs that a holder has, or that have run out.
const dueText = `SELECT id, 0, attempt FROM @.job WHERE id = ANY($3) AND state IN (3, 7) AND tasks = 1 AND CASE $1 WHEN '' THEN until <= $2 ELSE holder = $1 END
	UNION ALL SELECT job, idx, attempt FROM @.task WHERE job = ANY($3) AND t_state = 3 AND CASE $1 WHEN '' THEN until <= $2 ELSE holder = $1 END
	ORDER BY 1, 2`

// takeText deletes rows of the table lease: either the rows of one holder, or the rows that may have run out. It then
// reads which leases of the jobs in these rows are due. It waits for other transactions that take the same rows. It
// finds due rows by the index on until, without reading the rest. The table has one row per call within the length of
// a lease.
var (
	takeText = `WITH l AS (DELETE FROM @.lease WHERE id = ANY(ARRAY(SELECT id FROM @.lease WHERE $which ORDER BY until, id FOR UPDATE)) RETURNING jobs),
		i AS (SELECT unnest(jobs) AS id FROM l) ` + strings.ReplaceAll(dueText, "$3", "ARRAY(SELECT id FROM i)")
	takeDueText  = strings.Replace(takeText, "$which", "until <= $2", 1)
	takeHeldText = strings.Replace(takeText, "$which", "holder = $1", 1)
)

// expiry searches for the leases of a holder, or for expired leases.
type expiry struct {
	t      *tx
	holder string // "": all expired leases
}

// due returns the attempts of a holder, or all attempts whose lease ran out, in order. Until their jobs and tasks are
// locked, somebody may renew them. A renewal, or another lease of such a task, adds a row to the table lease that this
// expiry could not have taken.
func (e *expiry) due() (due []queue.Ref, err error) {
	take := e.takeDue
	if e.holder != "" {
		take = e.takeHeld
	}
	if due, err = take(); err != nil || len(due) == 0 {
		return nil, err
	}
	var jobs []int64
	for _, ref := range due {
		if n := len(jobs); n == 0 || jobs[n-1] != ref.JobID {
			jobs = append(jobs, ref.JobID)
		}
	}
	e.t.askHolders(due)
	e.t.trip.queue(`SELECT FROM @.task WHERE job = ANY($1) AND t_state = 3 ORDER BY job, idx FOR UPDATE`, jobs)
	due = nil
	e.ask(&due, dueText, jobs)
	return due, e.t.trip.do()
}

// ask queries the attempts that are due at the instant of the transaction.
func (e *expiry) ask(due *[]queue.Ref, text string, more ...any) {
	e.t.trip.ask(text, func(r pgx.Rows) error {
		var ref queue.Ref
		err := r.Scan(&ref.JobID, &ref.Task, &ref.Attempt)
		*due = append(*due, ref)
		return err
	}, append([]any{e.holder, life.Nanos(e.t.trip.now)}, more...)...)
}

// takeDue takes the jobs whose lease may have run out.
func (e *expiry) takeDue() (due []queue.Ref, err error) {
	e.ask(&due, takeDueText)
	return due, e.t.trip.do()
}

// takeHeld takes the jobs of a holder, until the table lease has no row for it. A row may still appear. The row comes
// from a renewal that ended too late for this expiry to see it. The renewal ended early enough for another expiry to
// see the row, and to take the expired row before it.
func (e *expiry) takeHeld() (due []queue.Ref, err error) {
	for more := true; more; {
		e.ask(&due, takeHeldText)
		e.t.trip.ask(`SELECT EXISTS (SELECT FROM @.lease WHERE holder = $1)`, func(r pgx.Rows) error { return r.Scan(&more) },
			e.holder)
		if err := e.t.trip.do(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(due, byTask)
	return slices.Compact(due), nil
}
