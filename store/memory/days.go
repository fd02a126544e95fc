package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// KeepDays implements fairlead.DayKeeper.
func (s *Store) KeepDays(ctx context.Context, n int) error {
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.dayCount = n
	for _, days := range s.days {
		for day := range days {
			if day <= life.Day(now)-int64(n) {
				delete(days, day)
			}
		}
	}
	return nil
}

// Days implements fairlead.DayKeeper.
func (s *Store) Days(ctx context.Context) ([]fairlead.DayUsage, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []fairlead.DayUsage
	for pool, days := range s.days {
		for day, used := range days {
			out = append(out, fairlead.DayUsage{Pool: pool, Day: life.Midnight(day), Used: used})
		}
	}
	slices.SortFunc(out, func(a, b fairlead.DayUsage) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Day.Compare(b.Day)) })
	return out, nil
}

// SetUsed implements fairlead.Charger.
func (s *Store) SetUsed(ctx context.Context, used map[string]float64) error {
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	for pool, amount := range used {
		s.account(pool).Used = amount * life.Decay(s.clock, now)
		delete(s.days, pool)
		if s.dayCount > 0 && amount > 0 {
			s.day(pool, life.Day(now), amount)
		}
	}
	return nil
}

// day books an amount on a day.
func (s *Store) day(pool string, day int64, amount float64) {
	if s.days == nil {
		s.days = map[string]map[int64]float64{}
	}
	if s.days[pool] == nil {
		s.days[pool] = map[int64]float64{}
	}
	s.days[pool][day] += amount
}
