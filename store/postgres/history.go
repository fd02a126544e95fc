package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/past"
)

// historyKeys are keys of blocks as columns.
type historyKeys struct {
	levels []int16
	blocks []int64
	pools  []string
}

func keyColumns(keys []past.Key) (c historyKeys) {
	for _, k := range keys {
		c.levels, c.blocks, c.pools = append(c.levels, int16(k.Level)), append(c.blocks, k.Block), append(c.pools, k.Pool)
	}
	return c
}

const (
	// historyBlocksText reads each block by its key.
	historyBlocksText = `SELECT k.level, k.block, k.pool, h.steps FROM unnest($1::smallint[], $2::bigint[], $3::text[]) AS k (level, block, pool),
		LATERAL (SELECT steps FROM @.history AS h WHERE h.level = k.level AND h.block = k.block AND h.pool = k.pool LIMIT 1) AS h`
	historySaveText = `INSERT INTO @.history (level, block, pool, steps) SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::text[], $4::bytea[])
		ON CONFLICT (level, block, pool) DO UPDATE SET steps = excluded.steps`
)

// AddHistory implements queue.HistoryKeeper.
func (s *Store) AddHistory(ctx context.Context, pools []queue.PoolHistory) error {
	keys, parts, err := past.Split(pools)
	if err != nil {
		return err
	}
	return s.writer.do(ctx, func(t *tx) error {
		// Simultaneous additions must not be lost.
		t.trip.queue(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "history "+s.db.prefix)
		if err := t.trip.do(); err != nil {
			return err
		}
		return t.addHistory(keys, parts)
	})
}

func (t *tx) addHistory(keys []past.Key, parts map[past.Key][]queue.HistoryStep) error {
	c, old := keyColumns(keys), map[past.Key][]byte{}
	t.trip.ask(historyBlocksText, func(r pgx.Rows) error {
		k, data, err := scanBlock(r)
		old[k] = data
		return err
	}, c.levels, c.blocks, c.pools)
	if err := t.trip.do(); err != nil {
		return err
	}
	blocks := make([][]byte, len(keys))
	for i, k := range keys {
		var err error
		if blocks[i], err = past.Add(old[k], k, parts[k]); err != nil {
			return fmt.Errorf("history of %q: %w", k.Pool, err)
		}
	}
	t.trip.queue(historySaveText, c.levels, c.blocks, c.pools, blocks)
	for level := range queue.HistoryLevels {
		t.trip.queue(`DELETE FROM @.history WHERE level = $1 AND block < $2`, level, past.Oldest(level, t.trip.now))
	}
	return nil
}

func scanBlock(r pgx.Rows) (k past.Key, data []byte, err error) {
	err = r.Scan(&k.Level, &k.Block, &k.Pool, &data)
	return k, data, err
}

// PoolHistory implements queue.HistoryKeeper.
func (s *Store) PoolHistory(ctx context.Context, q queue.HistoryQuery) ([]queue.PoolHistory, error) {
	if err := past.Known(q.Level); err != nil {
		return nil, err
	}
	now := time.Now()
	if s.db.options.Now != nil {
		now = s.db.options.Now()
	}
	var keys []past.Key
	for _, b := range past.Blocks(q, now) {
		for _, pool := range q.Pools {
			keys = append(keys, past.Key{Level: q.Level, Block: b, Pool: pool})
		}
	}
	c, blocks := keyColumns(keys), map[past.Key][]byte{}
	err := s.db.query(ctx, historyBlocksText, func(r pgx.Rows) error {
		k, data, err := scanBlock(r)
		blocks[k] = data
		return err
	}, c.levels, c.blocks, c.pools)
	if err != nil {
		return nil, err
	}
	g := past.Gather{Query: q}
	for _, k := range keys {
		if err := g.Block(k, blocks[k]); err != nil {
			return nil, fmt.Errorf("history of %q: %w", k.Pool, err)
		}
	}
	return g.History(), nil
}
