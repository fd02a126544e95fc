package postgres

import (
	"context"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
)

// Examine implements queue.Examiner. It takes row counts from the database's statistics, which are estimates. It may
// lack the right to see how long sessions of other users last.
func (s *Store) Examine(ctx context.Context) (h queue.StoreHealth, err error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return h, err
	}
	h.Known, h.Reserve = len(files), true
	var live, dead int64
	var oldest float64
	err = s.db.query(ctx, `SELECT f.version, t.bytes, t.live, t.dead, t.feed, a.sessions, a.oldest, current_setting('max_connections')::int
		FROM @.format f, (
			SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint bytes, coalesce(sum(n_live_tup), 0)::bigint live,
				coalesce(sum(n_dead_tup), 0)::bigint dead, coalesce(sum(n_live_tup) FILTER (WHERE relname = 'feed'), 0)::bigint feed
			FROM pg_stat_user_tables WHERE schemaname = $1
		) t, (
			SELECT count(*)::int sessions, coalesce(extract(epoch FROM max(clock_timestamp() - xact_start) FILTER (WHERE pid <> pg_backend_pid())), 0)::float8 oldest
			FROM pg_stat_activity WHERE backend_type = 'client backend'
		) a`, func(r pgx.Rows) error {
		return r.Scan(&h.Format, &h.Bytes, &live, &dead, &h.Feed, &h.Sessions, &oldest, &h.MaxSessions)
	}, s.db.options.Schema)
	if all := live + dead; all > 0 {
		h.Unused = float64(dead) / float64(all)
	}
	h.Oldest = time.Duration(oldest * float64(time.Second))
	return h, err
}
