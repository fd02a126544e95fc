package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
)

// forgotten is the state of a job that ended so long ago that it is not kept any more.
const forgotten fairlead.State = "forgotten"

// lateBatch bounds the dependencies that are settled in one transaction.
const lateBatch = 1000

// settle sees to dependencies that were written in a transaction of the program's own, which
// does not keep the job from ending on which another one depends: if that has ended before the
// commit, nobody told the other one.
func (s *Store) settle(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error {
		b := &submission{t: t, states: map[int64]fairlead.State{}}
		var pairs [][2]int64 // on which job, which job
		var on []int64
		t.ask(`DELETE FROM @.late WHERE ctid = ANY(ARRAY(SELECT ctid FROM @.late LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING on_job, job`, func(r pgx.Rows) error {
			var p [2]int64
			err := r.Scan(&p[0], &p[1])
			pairs, on = append(pairs, p), append(on, p[0])
			return err
		}, lateBatch)
		if err := t.do(); err != nil || len(pairs) == 0 {
			return err
		}
		if len(pairs) == lateBatch {
			s.roll.due(s)
		}
		b.askStates(on, true)
		if err := t.do(); err != nil {
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
		return t.tellLate(ends, waits, b.states)
	})
}

// tellLate tells jobs that those on which they depend have ended, unless they know.
func (t *tx) tellLate(ends, waits []int64, states map[int64]fairlead.State) error {
	if len(ends) == 0 {
		return nil
	}
	var told [][2]int64
	t.askRows(waits)
	t.ask(`DELETE FROM @.depends AS d USING unnest($1::bigint[], $2::bigint[]) AS v (o, j) WHERE d.on_job = v.o AND d.job = v.j AND d.on_job = ANY($1)
		RETURNING on_job, job`, func(r pgx.Rows) error {
		var p [2]int64
		err := r.Scan(&p[0], &p[1])
		told = append(told, p)
		return err
	}, ends, waits)
	if err := t.do(); err != nil {
		return err
	}
	for _, p := range told {
		if err := t.dependencyEnded(t.rows[p[1]], &fairlead.Job{ID: p[0], State: states[p[0]]}); err != nil {
			return err
		}
	}
	return nil
}
