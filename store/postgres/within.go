package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// Tx wraps a transaction of the program, to submit jobs in it. The transaction must be on the database of the store;
// its user may differ, if it may read the tables and add to them.
func Tx(t pgx.Tx) queue.Tx { return within{t} }

// SQLTx is [Tx] for database/sql, with any driver for PostgreSQL. Statements are sent one at a time, so it takes some
// more trips to the database.
func SQLTx(t *sql.Tx) queue.Tx { return within{sqlLine{t}} }

// within is a transaction of the program.
type within struct{ line line }

// Submit implements queue.Tx.
func (w within) Submit(ctx context.Context, store queue.Store, jobs []*queue.Job) ([]queue.Submission, error) {
	s, ok := store.(*Store)
	if !ok {
		return nil, fmt.Errorf("SubmitTx: the jobs are in a %T, which a PostgreSQL transaction does not cover; use Submit, or a store in the same database", store)
	}
	out, err := s.submitWithin(ctx, w.line, jobs)
	if err != nil {
		return nil, fmt.Errorf("SubmitTx: %w; roll the transaction back", explainWithin(err))
	}
	return out, nil
}

// beginWithinText is beginText for a transaction of the program, whose settings are restored at the end. The job's time
// is that of the submission, not of the beginning of the transaction.
const beginWithinText = `WITH old AS MATERIALIZED (SELECT current_setting('enable_seqscan') AS a, current_setting('enable_mergejoin') AS b,
		current_setting('enable_nestloop') AS c, current_setting('jit') AS d, current_setting('lock_timeout') AS e)
	SELECT a, b, c, d, e, set_config('enable_seqscan', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_nestloop', 'off', true),
		set_config('jit', 'off', true), set_config('lock_timeout', CASE e WHEN '0' THEN $2 ELSE e END, true), pg_current_xact_id()::text,
		coalesce($1::bigint, ` + realNow + `), c.id, c.half_life, c.reference, (SELECT id FROM @.format)
	FROM old, (SELECT id, half_life, reference FROM @.clock ORDER BY id DESC LIMIT 1) AS c`

const endWithinText = `SELECT set_config('enable_seqscan', $1, true), set_config('enable_mergejoin', $2, true),
	set_config('enable_nestloop', $3, true), set_config('jit', $4, true), set_config('lock_timeout', $5, true)`

// submitWithin adds jobs in a transaction of the program. It only inserts new rows, and locks no existing ones, because
// the transaction may take long.
func (s *Store) submitWithin(ctx context.Context, line line, jobs []*queue.Job) ([]queue.Submission, error) {
	ctx, cancel := context.WithTimeout(ctx, s.db.options.Timeout)
	defer cancel()
	if err := s.db.alive(ctx); err != nil {
		return nil, err
	}
	if err := s.internFirst(ctx, jobs); err != nil {
		return nil, err
	}
	t := newTx(ctx, s.db, s.writer.pools, line, s.db.origin)
	var old [5]any
	var xid, id string
	t.trip.ask(beginWithinText, func(r pgx.Rows) error {
		var no string
		var now, half, reference int64
		var was [5]string
		err := r.Scan(&was[0], &was[1], &was[2], &was[3], &was[4], &no, &no, &no, &no, &no, &xid, &now, &t.ledger.clockID,
			&half, &reference, &id)
		for i := range was {
			old[i] = was[i]
		}
		t.trip.now, t.ledger.clock = life.Instant(now), usage.NewClock(life.Instant(reference), 0)
		return err
	}, s.db.now(), fmt.Sprint(keyWaitForeign.Milliseconds(), "ms"))
	if err := t.trip.do(); err != nil {
		return nil, err
	}
	if id != s.id {
		return nil, errElsewhere
	}
	out, err := t.submit(jobs, true)
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		return nil, err
	}
	t.trip.queue(endWithinText, old[:]...)
	if err := t.trip.do(); err != nil {
		return nil, err
	}
	s.open.add(xid)
	return out, nil
}

// errElsewhere says that the tables of the transaction are not those of the store.
var errElsewhere = errors.New("the transaction is in a different database than the store")

// internFirst creates the pools of jobs in its own transaction. Otherwise other transactions that use a new pool at the
// same time would wait for the program's transaction.
func (s *Store) internFirst(ctx context.Context, jobs []*queue.Job) error {
	unknown := map[string]string{}
	for _, j := range jobs {
		if _, known := s.writer.pools.id(j.Pool); !known {
			unknown[j.Pool] = cmp.Or(unknown[j.Pool], j.User)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return s.writer.aside().do(ctx, func(t *tx) error {
		t.pools.ask(unknown)
		if err := t.trip.do(); err != nil {
			return err
		}
		return t.pools.internAll(unknown)
	})
}

// explainWithin adds advice to errors that result from the use of a foreign transaction.
func explainWithin(err error) error {
	var p *pgconn.PgError
	if !errors.As(err, &p) {
		return err
	}
	switch p.Code {
	case "42P01", "3F000":
		return fmt.Errorf("%w: %w", errElsewhere, err)
	case "42501":
		return fmt.Errorf("the user of the transaction has to be granted USAGE on the schema, SELECT and INSERT on its tables and USAGE on its sequences: %w", err)
	case "40P01":
		return fmt.Errorf("two transactions submit jobs with the same keys in different orders: %w", err)
	}
	return err
}
