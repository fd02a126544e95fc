package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
)

// forgotten is the state of a job that ended too long ago to be kept.
const forgotten queue.State = "forgotten"

// lateBatch is the maximum number of dependencies that are settled in one transaction.
const lateBatch = 1000

// settle handles dependencies that were written in a transaction of the program. Such a transaction does not lock the
// jobs on which its jobs depend. If one of them ended before the commit, nobody has informed the dependent job.
func (s *Store) settle(ctx context.Context) error {
	return s.writer.do(ctx, func(t *tx) error {
		b := &submission{t: t, states: map[int64]queue.State{}}
		var pairs [][2]int64 // the dependency, and the job that depends on it
		var on []int64
		t.trip.ask(`DELETE FROM @.late WHERE ctid = ANY(ARRAY(SELECT ctid FROM @.late LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING on_job, job`, func(r pgx.Rows) error {
			var p [2]int64
			err := r.Scan(&p[0], &p[1])
			pairs, on = append(pairs, p), append(on, p[0])
			return err
		}, lateBatch)
		if err := t.trip.do(); err != nil || len(pairs) == 0 {
			return err
		}
		if len(pairs) == lateBatch {
			s.roll.due()
		}
		b.askStates(on, true)
		if err := t.trip.do(); err != nil {
			return err
		}
		var ends, waits []int64
		for _, p := range pairs {
			state, known := b.states[p[0]]
			if !known {
				b.states[p[0]] = forgotten
			}
			if !known || state.Ended() {
				ends, waits = append(ends, p[0]), append(waits, p[1])
			}
		}
		return t.reportLate(ends, waits, b.states)
	})
}

// reportLate informs jobs that their dependencies have ended, unless they have been informed.
func (t *tx) reportLate(ends, waits []int64, states map[int64]queue.State) error {
	if len(ends) == 0 {
		return nil
	}
	var settled [][2]int64
	t.jobs.ask(waits)
	t.trip.ask(`DELETE FROM @.depends AS d USING unnest($1::bigint[], $2::bigint[]) AS v (o, j) WHERE d.on_job = v.o AND d.job = v.j AND d.on_job = ANY($1)
		RETURNING on_job, job`, func(r pgx.Rows) error {
		var p [2]int64
		err := r.Scan(&p[0], &p[1])
		settled = append(settled, p)
		return err
	}, ends, waits)
	if err := t.trip.do(); err != nil {
		return err
	}
	for _, p := range settled {
		r := t.jobs.all[p[1]]
		if err := t.dependencyEnded(r, &queue.Job{ID: p[0], State: states[p[0]]}); err != nil {
			return err
		}
		if r == nil || r.State.Ended() { // if it was canceled with the other job, it comes back with it
			t.trip.queue(`INSERT INTO @.depends (on_job, job) VALUES ($1, $2) ON CONFLICT DO NOTHING`, p[0], p[1])
		}
	}
	return nil
}
