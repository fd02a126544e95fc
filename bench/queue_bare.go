package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// bareTable is the minimum of a queue: first come, first served, no pools, no leases that run out, no usage,
// no feed. Vacuum is as eager as for the tables of fairlead.
const bareTable = `CREATE SCHEMA @; CREATE TABLE @.job (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, pool integer NOT NULL, state smallint NOT NULL DEFAULT 0, args bytea NOT NULL,
	attempt integer NOT NULL DEFAULT 0, holder text, submitted timestamptz NOT NULL DEFAULT now(), started timestamptz, ended timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ON @.job (id) WHERE state = 0`

const bareSubmit = `INSERT INTO @.job (pool, args) SELECT * FROM unnest($1::int[], $2::bytea[])`

const bareClaim = `UPDATE @.job SET state = 1, attempt = attempt + 1, holder = $2, started = now()
	WHERE id = ANY(ARRAY(SELECT id FROM @.job WHERE state = 0 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
	RETURNING id, pool, attempt, args`

// The ways to end jobs: the number of the attempt reveals a lost lease.
const (
	keepDone = `UPDATE @.job AS j SET state = 2, ended = now() FROM unnest($1::bigint[], $2::int[]) AS v (id, attempt)
		WHERE j.id = v.id AND j.attempt = v.attempt AND state = 1`
	deleteDone = `DELETE FROM @.job AS j USING unnest($1::bigint[], $2::int[]) AS v (id, attempt)
		WHERE j.id = v.id AND j.attempt = v.attempt AND state = 1`
)

type bareQueue struct {
	pool                  *pgxpool.Pool
	insert, lease, finish string
}

func openBare(finish string) func(ctx context.Context, url, schema string) (measured, error) {
	return func(ctx context.Context, url, schema string) (measured, error) {
		config, err := pgxpool.ParseConfig(url)
		if err != nil {
			return nil, err
		}
		for _, way := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
			config.ConnConfig.RuntimeParams[way] = "off" // otherwise it reads the whole table for a batch of 1,000
		}
		pool, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		in := func(sql string) string { return strings.ReplaceAll(sql, "@", schema) }
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		defer conn.Release()
		_, err = conn.Conn().PgConn().Exec(ctx, in(bareTable)).ReadAll()
		return &bareQueue{pool: pool, insert: in(bareSubmit), lease: in(bareClaim), finish: in(finish)}, err
	}
}

func (b *bareQueue) submit(ctx context.Context, pools []int) error {
	ids, args := make([]int32, len(pools)), make([][]byte, len(pools))
	for i, p := range pools {
		text, err := json.Marshal(riverArgs{payload{"cat.jpg", 640}, poolName(p)})
		if err != nil {
			return err
		}
		ids[i], args[i] = int32(p), text
	}
	_, err := b.pool.Exec(ctx, b.insert, ids, args)
	return err
}

func (b *bareQueue) claim(ctx context.Context, most int) (int, func(context.Context) error, error) {
	rows, err := b.pool.Query(ctx, b.lease, most, "bench")
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	var ids []int64
	var attempts []int32
	for rows.Next() {
		var id int64
		var pool, attempt int32
		var text []byte
		var args riverArgs
		if err := rows.Scan(&id, &pool, &attempt, &text); err != nil {
			return 0, nil, err
		}
		if err := json.Unmarshal(text, &args); err != nil {
			return 0, nil, err
		}
		ids, attempts = append(ids, id), append(attempts, attempt)
	}
	return len(ids), func(ctx context.Context) error {
		tag, err := b.pool.Exec(ctx, b.finish, ids, attempts)
		if err == nil && int(tag.RowsAffected()) != len(ids) {
			err = fmt.Errorf("the bare loop ended %d jobs of %d", tag.RowsAffected(), len(ids))
		}
		return err
	}, rows.Err()
}

func (b *bareQueue) close() { b.pool.Close() }
