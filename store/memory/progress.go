package memory

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Progress implements fairlead.Store.
func (s *Store) Progress(ctx context.Context, all []fairlead.Progress) ([]error, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]error, len(all))
	for i, p := range all {
		j, t, err := s.holder(p.Ref)
		if out[i] = err; err == nil && life.Progress(&j.Job, t, p.Began, now) {
			s.feed.Add(life.ProgressChange(&j.Job, t, now))
		}
	}
	return out, nil
}

// charge books the service of an attempt that ends, and counts its task out.
func (s *Store) charge(j *job, t *fairlead.Task, ended time.Time, learn bool, now time.Time) {
	if life.Outgrown(s.clock, now) {
		s.rebase(now, s.clock.HalfLife())
	}
	rate := life.Rate(t.Charge, j.Request, s.unit)
	from, to, learn := life.Served(t, ended, learn)
	if s.dayCount > 0 {
		oldest := life.Day(now) - int64(s.dayCount) + 1
		life.ByDay(rate, from, to, oldest, func(day int64, amount float64) { s.day(j.Pool, day, amount) })
	}
	life.Charge(s.account(j.Pool), s.clock, rate, from, to, learn)
}
