package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// summed adds up rows of delta, named gone, for each pool.
const summed = `SELECT v.pool, coalesce(sum(v.waiting), 0)::bigint AS waiting, coalesce(sum(v.running), 0)::bigint AS running,
		coalesce(sum(@.scaled(v.used, factor)), 0) AS used, coalesce(sum(@.scaled(v.seen, factor)), 0) AS seen,
		coalesce(sum(@.scaled(v.length, factor)), 0) AS length, coalesce(sum(v.total), 0) AS total, coalesce(sum(v.ended), 0)::bigint AS ended
	FROM gone JOIN @.clock ON clock.id = gone.clock, LATERAL
		unnest(gone.pools, gone.waiting, gone.running, gone.used, gone.seen, gone.length, gone.total, gone.ended)
		AS v (pool, waiting, running, used, seen, length, total, ended) GROUP BY v.pool`

// rollUpText adds up the changes of accounts. Its caller must hold the lock of alone.
const rollUpText = `WITH gone AS (DELETE FROM @.delta RETURNING *),
	d AS (` + summed + `)
	UPDATE @.pool AS p SET waiting = p.waiting + d.waiting, running = p.running + d.running, used = p.used + d.used,
		seen = p.seen + d.seen, length = p.length + d.length, total = p.total + d.total, ended = p.ended + d.ended
	FROM d WHERE d.pool = p.id AND p.id = ANY(ARRAY(SELECT pool FROM d))`

func (t *tx) rollUp() {
	t.trip.queue(rollUpText)
	t.trip.queue(`WITH gone AS (DELETE FROM @.day_delta RETURNING *)
		INSERT INTO @.day AS d (pool, day, used) SELECT pool, day, sum(used) FROM gone GROUP BY pool, day
		ON CONFLICT (pool, day) DO UPDATE SET used = d.used + excluded.used`)
}

// trimFeed deletes the changes that every reader has seen, apart from readers that are too far behind.
func (t *tx) trimFeed() {
	kept := int64(feedKept)
	const old = ` FROM @.feed_kept WHERE at <= ` + realNow + ` - $1::bigint ORDER BY at DESC LIMIT 1`
	t.trip.queue(`DELETE FROM @.feed WHERE seq <= (SELECT last`+old+`) AND pg_visible_in_snapshot(xid, (SELECT seen`+old+`))`, kept)
	t.trip.queue(`DELETE FROM @.feed_kept WHERE at < (SELECT max(at) FROM @.feed_kept WHERE at <= `+realNow+` - $1::bigint)`, kept)
	t.trip.queue(`INSERT INTO @.feed_kept (at, seen, last) SELECT `+realNow+`, pg_current_snapshot(), coalesce((SELECT max(seq) FROM @.feed), 0)
		WHERE NOT EXISTS (SELECT FROM @.feed_kept WHERE at > `+realNow+` - $1::bigint)`, kept/4)
}

// maintain rolls up, and cleans up if it is time for that, unless another server is doing the same.
func (s *Store) maintain(ctx context.Context, clean bool) error {
	free, late := false, false
	err := s.writer.do(ctx, func(t *tx) (err error) {
		if free, err = t.ledger.tryAlone(); err != nil || !free {
			return err
		}
		t.rollUp()
		t.trip.askBool(`SELECT EXISTS (SELECT FROM @.late)`, &late)
		if clean {
			t.trimFeed()
		}
		return nil
	})
	if err == nil && late {
		err = s.settle(ctx)
	}
	if err != nil || !free || !clean {
		return err
	}
	// These tables have few live rows and so large a number of dead ones that an autovacuum once a
	// minute is not enough.
	return s.db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := c.Exec(ctx, s.db.sql(`VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON) @.delta, @.lease, @.feed, @.day_delta, @.late`))
		return err
	})
}
