package sqlite

import (
	"context"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/past"
)

// AddHistory implements queue.HistoryKeeper.
func (s *Store) AddHistory(ctx context.Context, pools []queue.PoolHistory) error {
	keys, parts, err := past.Split(pools)
	if err != nil {
		return err
	}
	return s.write(ctx, true, func(t *tx) error {
		for _, k := range keys {
			if err := t.addHistory(k, parts[k]); err != nil {
				return fmt.Errorf("history of %q: %w", k.Pool, err)
			}
		}
		return t.forgetHistory()
	})
}

func (t *tx) addHistory(k past.Key, steps []queue.HistoryStep) error {
	old, err := historyBlock(t.conn, k)
	if err != nil {
		return err
	}
	data, err := past.Add(old, k, steps)
	if err != nil {
		return err
	}
	stmt := t.conn.Prep(`INSERT INTO history (level, block, pool, steps) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET steps = excluded.steps`)
	b := binder{stmt: stmt}
	b.int64(int64(k.Level)).int64(k.Block).text(k.Pool)
	stmt.BindBytes(4, data)
	return exec(stmt)
}

// forgetHistory removes steps that are too old.
func (t *tx) forgetHistory() error {
	for level := range queue.HistoryLevels {
		b := binder{stmt: t.conn.Prep(`DELETE FROM history WHERE level = ? AND block < ?`)}
		if err := exec(b.int64(int64(level)).int64(past.Oldest(level, t.now)).stmt); err != nil {
			return err
		}
	}
	return nil
}

// historyBlock reads a block, nil if there is none.
func historyBlock(conn *sqlite.Conn, k past.Key) (data []byte, err error) {
	stmt := conn.Prep(`SELECT steps FROM history WHERE level = ? AND block = ? AND pool = ?`)
	defer stmt.Reset()
	b := binder{stmt: stmt}
	b.int64(int64(k.Level)).int64(k.Block).text(k.Pool)
	some, err := stmt.Step()
	if err != nil || !some {
		return nil, err
	}
	data = make([]byte, stmt.ColumnLen(0))
	stmt.ColumnBytes(0, data)
	return data, nil
}

// PoolHistory implements queue.HistoryKeeper.
func (s *Store) PoolHistory(ctx context.Context, q queue.HistoryQuery) ([]queue.PoolHistory, error) {
	if err := past.Known(q.Level); err != nil {
		return nil, err
	}
	g := past.Gather{Query: q}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		for _, block := range past.Blocks(q, time.Now()) {
			for _, pool := range q.Pools {
				k := past.Key{Level: q.Level, Block: block, Pool: pool}
				data, err := historyBlock(conn, k)
				if err == nil {
					err = g.Block(k, data)
				}
				if err != nil {
					return fmt.Errorf("history of %q: %w", pool, err)
				}
			}
		}
		return nil
	})
	return g.History(), err
}
