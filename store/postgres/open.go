package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/queue"
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
	return begin(ctx, db)
}

// leastConns is the minimum number of connections in a program's pool: while a transaction of the program holds one,
// the store may need another.
const leastConns = 2

// OpenPool opens the store in the database of a program that already has a connection pool. The settings, tracing and
// bounds of the pool apply to the store too. The store never closes the pool. It also has two connections of its own.
// Through one the database notifies it of changes. Through the other it creates pools while a transaction of the
// program submits jobs to them. A URL with schema= or direct= is only for [Open]; use [Options] here.
func OpenPool(ctx context.Context, pool *pgxpool.Pool, o Options) (*Store, error) {
	if pool == nil {
		return nil, queue.Invalidf("pool", "is nil")
	}
	config := pool.Config()
	if config.MaxConns < leastConns {
		return nil, queue.Invalidf("pool", "has at most one connection; give it %d or more (pool_max_conns)", leastConns)
	}
	o.fill()
	db := newDatabase(ctx, o)
	place := placeOf(config.ConnConfig, o.Schema)
	db.pool, db.lent = pool, true
	before := config.ConnConfig.DefaultQueryExecMode
	if err := db.setUp(ctx, config, false); err != nil {
		db.quit()
		return nil, fmt.Errorf("open %s: %w", place, explain(err))
	}
	if after := config.ConnConfig.DefaultQueryExecMode; before != after && before != pgx.QueryExecModeSimpleProtocol {
		db.quit()
		return nil, queue.Invalidf("pool", "prepares statements, which the pooler in front of %s loses; "+
			"add default_query_exec_mode=exec to its URL", place)
	}
	// The program's transactions hold connections of its pool while others create new pools of jobs.
	config.MaxConns, config.MinConns, config.MinIdleConns = 1, 0, 0
	own, err := pgxpool.NewWithConfig(db.living, config)
	if err != nil {
		db.quit()
		return nil, err
	}
	db.own = own
	return begin(ctx, db)
}

// begin returns the store of a database that has its connections.
func begin(ctx context.Context, db *database) (*Store, error) {
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

// graceText extends all leases to at least $1, if no server was present at $2 to renew them.
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
