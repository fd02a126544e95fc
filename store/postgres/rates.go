package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Rates implements queue.RateKeeper.
func (s *Store) Rates(ctx context.Context) (out []sched.RateState, err error) {
	err = s.db.query(ctx, `SELECT `+laterNow+`, `+rateColumns+` FROM @.quota WHERE taken_at > 0 ORDER BY key`,
		func(rows pgx.Rows) error {
			var now int64
			_, r, err := scanRate(rows, &now)
			r.Resume(r.Limit, life.Instant(now))
			out = append(out, r)
			return err
		}, s.db.now())
	return out, err
}
