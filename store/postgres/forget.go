package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/store/internal/life"
)

// forgetBatch bounds the jobs that go in one transaction, so that nobody waits long.
const forgetBatch = 1000

// forgetText removes the first jobs that ended from $1 on and before $2. It goes on where the
// batch before it has ended, so that the rows that are gone are not gone through again. One
// that is requeued at this moment is not among them any more when its turn comes.
const forgetText = `WITH j AS (SELECT id FROM @.ended WHERE ended >= $1 AND ended < $2 ORDER BY ended LIMIT $3 FOR UPDATE SKIP LOCKED),
	d AS (DELETE FROM @.ended WHERE id = ANY(ARRAY(SELECT id FROM j)) RETURNING id, ended),
	i AS (SELECT array_agg(id) AS ids FROM d),
	t AS (DELETE FROM @.task WHERE job = ANY((SELECT ids FROM i)::bigint[])),
	v AS (DELETE FROM @.event WHERE job = ANY((SELECT ids FROM i)::bigint[])),
	s AS (DELETE FROM @.stop WHERE job = ANY((SELECT ids FROM i)::bigint[])),
	k AS (DELETE FROM @.jobkey WHERE job = ANY((SELECT ids FROM i)::bigint[]))
	SELECT count(*), coalesce(max(ended), 0) FROM d`

// Forget implements fairlead.Forgetter. It returns 0 while another server forgets. Ids are not
// used again.
func (s *Store) Forget(ctx context.Context, before time.Time) (n int, err error) {
	from := int64(0)
	for {
		gone, last := 0, from
		err := s.write(ctx, func(t *tx) error {
			free := false
			gone = 0
			t.askBool(`SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, &free, "forget "+t.s.prefix)
			if err := t.do(); err != nil || !free {
				return err
			}
			t.ask(forgetText, func(r pgx.Rows) error { return r.Scan(&gone, &last) }, from, life.Nanos(before), forgetBatch)
			return t.do()
		})
		if n += gone; err != nil || gone == 0 {
			return n, err
		}
		from = last
	}
}
