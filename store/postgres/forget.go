package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/store/internal/life"
)

// forgetBatch is the approximate number of jobs in one transaction, so that other calls do not wait long.
const forgetBatch = 1000

// forgetText removes the first jobs that ended at $1 or later and before $2: all jobs that ended in the same
// transaction together, until there are $3. It continues where the last batch ended, so that deleted rows are not read
// again. A requeued job is left out, or has ended later.
const forgetText = `WITH o AS (SELECT id, at, jobs, sum(cardinality(jobs)) OVER (ORDER BY at, id) - cardinality(jobs) AS earlier
		FROM (SELECT * FROM @.ending WHERE at >= $1 AND at < $2 ORDER BY at, id LIMIT $3) AS o),
	g AS (DELETE FROM @.ending WHERE id = ANY(ARRAY(SELECT id FROM o WHERE earlier < $3)) RETURNING at, jobs),
	j AS (SELECT id FROM @.ended WHERE id = ANY(ARRAY(SELECT unnest(jobs) FROM g)) AND ended < $2 FOR UPDATE),
	d AS (DELETE FROM @.ended WHERE id = ANY(ARRAY(SELECT id FROM j)) RETURNING id),
	i AS (SELECT array_agg(id) AS ids FROM d),
	t AS (DELETE FROM @.task WHERE job = ANY((SELECT ids FROM i)::bigint[])),
	v AS (DELETE FROM @.event WHERE job = ANY((SELECT ids FROM i)::bigint[])),
	s AS (DELETE FROM @.stop WHERE job = ANY((SELECT ids FROM i)::bigint[])),
	k AS (DELETE FROM @.jobkey WHERE job = ANY((SELECT ids FROM i)::bigint[])),
	p AS (DELETE FROM @.depends WHERE on_job = ANY((SELECT ids FROM i)::bigint[]))
	SELECT (SELECT count(*) FROM d), (SELECT count(*) FROM g), coalesce((SELECT max(at) FROM g), 0)`

// Forget implements queue.Forgetter. It returns 0 while another server forgets. Ids are not used again.
func (s *Store) Forget(ctx context.Context, before time.Time) (n int, err error) {
	from := int64(0)
	for {
		gone, rows, last := 0, 0, from
		err := s.writer.do(ctx, func(t *tx) error {
			free := false
			gone, rows = 0, 0
			t.trip.askBool(`SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, &free, "forget "+t.db.prefix)
			if err := t.trip.do(); err != nil || !free {
				return err
			}
			t.trip.ask(forgetText, func(r pgx.Rows) error { return r.Scan(&gone, &rows, &last) }, from, life.Nanos(before),
				forgetBatch)
			return t.trip.do()
		})
		if n += gone; err != nil || rows == 0 {
			return n, err
		}
		from = last
	}
}
