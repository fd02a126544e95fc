package memory

import (
	"context"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// KeepDays implements queue.DayKeeper.
func (s *Store) KeepDays(ctx context.Context, n int) error {
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.ledger.kept = n
	for _, days := range s.ledger.days {
		for day := range days {
			if day <= life.Day(now)-int64(n) {
				delete(days, day)
			}
		}
	}
	return nil
}

// Days implements queue.DayKeeper.
func (s *Store) Days(ctx context.Context) ([]queue.DayUsage, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.ledger.daysKept(), nil
}

// SetUsed implements queue.Charger.
func (s *Store) SetUsed(ctx context.Context, used map[string]float64) error {
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	for pool, amount := range used {
		s.ledger.account(pool).Used = amount * life.Decay(s.ledger.clock, now)
		delete(s.ledger.days, pool)
		if s.ledger.kept > 0 && amount > 0 {
			s.ledger.day(pool, life.Day(now), amount)
		}
	}
	return nil
}
