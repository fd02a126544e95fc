package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/store/internal/life"
)

// Open opens the store in the database at an address: a URL, such as postgres://user@host/name, or
// a string of keywords and values, host=... dbname=...
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	config, err := o.configure(address)
	if err != nil {
		return nil, err
	}
	db := newDatabase(ctx, o)
	if err := db.setUp(ctx, config, strings.Contains(address, "default_query_exec_mode")); err != nil {
		db.quit()
		return nil, fmt.Errorf("open %s: %w", placeOf(config.ConnConfig, o.Schema), explain(err))
	}
	if db.pool, err = pgxpool.NewWithConfig(db.living, config); err != nil {
		db.quit()
		return nil, err
	}
	s := newStore(db)
	s.roll.maintain = s.maintain
	s.submissions = newSharing(db, s.submit)
	s.finishes = newSharing(db, s.finish)
	if err := s.start(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", s.Place(), explain(err))
	}
	return s, nil
}

// graceText lets no lease run out before $1, if nobody was there at $2 to whom it could have been
// renewed.
const graceText = `WITH l AS (UPDATE @.lease SET until = $1 WHERE until < $1 AND NOT EXISTS (SELECT FROM @.server WHERE server.until > $2) RETURNING jobs),
	i AS (SELECT unnest(jobs) AS id FROM l),
	j AS (UPDATE @.job SET until = $1 WHERE id = ANY(ARRAY(SELECT id FROM i)) AND state IN (3, 7) AND until < $1)
	UPDATE @.task SET until = $1 WHERE job = ANY(ARRAY(SELECT id FROM i)) AND t_state = 3 AND until < $1`

func (s *Store) start(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.db.options.Timeout)
	defer cancel()
	if s.id, err = migrate(ctx, s.db); err != nil {
		return err
	}
	if grace := s.db.options.Grace; grace > 0 {
		err := s.writer.do(ctx, func(t *tx) error {
			t.trip.queue(graceText, life.Nanos(t.trip.now.Add(grace)), life.Nanos(t.trip.now))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return s.feed.begin(ctx)
}
