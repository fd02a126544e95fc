package memory

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Usage implements queue.Accountant.
func (s *Store) Usage(ctx context.Context) (queue.Accounts, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return queue.Accounts{}, err
	}
	defer s.mu.Unlock()
	return s.ledger.usage(now), nil
}

// Balance implements queue.Accountant.
func (s *Store) Balance(ctx context.Context, f func(queue.Change) error) (b queue.Balance, err error) {
	now, err := s.lock(ctx)
	if err != nil {
		return b, err
	}
	defer s.mu.Unlock()
	if f != nil {
		if err := snapshot(s, f, now); err != nil {
			return b, err
		}
	}
	return queue.Balance{Cursor: s.feed.Cursor(), Accounts: s.ledger.usage(now), Days: s.ledger.daysKept()}, nil
}

// SetHalfLife implements queue.Accountant.
func (s *Store) SetHalfLife(ctx context.Context, halfLife time.Duration) error {
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.ledger.rebase(now, halfLife)
	return nil
}

// Recount implements queue.Accountant.
func (s *Store) Recount(ctx context.Context) (map[string]queue.Counters, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := map[string]queue.Counters{}
	for _, j := range s.jobs {
		c := out[j.Pool]
		c.Waiting += int64(j.Waiting)
		c.Running += int64(j.Running)
		out[j.Pool] = c
	}
	return out, nil
}

// CountUsers implements queue.UserCounter.
func (s *Store) CountUsers(ctx context.Context) (map[string]queue.UserCount, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := map[string]queue.UserCount{}
	for _, j := range s.jobs {
		if j.Waiting > 0 {
			c := out[j.User]
			out[j.User] = queue.UserCount{Jobs: c.Jobs + 1, Tasks: c.Tasks + int64(j.Waiting)}
		}
	}
	return out, nil
}
