package memory

import (
	"context"
	"maps"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/past"
)

// AddHistory implements queue.HistoryKeeper.
func (s *Store) AddHistory(ctx context.Context, pools []queue.PoolHistory) error {
	keys, parts, err := past.Split(pools)
	if err != nil {
		return err
	}
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.history == nil {
		s.history = map[past.Key][]byte{}
	}
	changed := map[past.Key][]byte{}
	for _, k := range keys {
		if changed[k], err = past.Add(s.history[k], k, parts[k]); err != nil {
			return err
		}
	}
	maps.Copy(s.history, changed)
	maps.DeleteFunc(s.history, func(k past.Key, _ []byte) bool { return k.Block < past.Oldest(k.Level, now) })
	return nil
}

// PoolHistory implements queue.HistoryKeeper.
func (s *Store) PoolHistory(ctx context.Context, q queue.HistoryQuery) ([]queue.PoolHistory, error) {
	if err := past.Known(q.Level); err != nil {
		return nil, err
	}
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	g := past.Gather{Query: q}
	for _, b := range past.Blocks(q, now) {
		for _, pool := range q.Pools {
			k := past.Key{Level: q.Level, Block: b, Pool: pool}
			if err := g.Block(k, s.history[k]); err != nil {
				return nil, err
			}
		}
	}
	return g.History(), nil
}
