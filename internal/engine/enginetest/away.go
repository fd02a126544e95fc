package enginetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// AwayStore is a store in memory that can be unavailable for the repeated calls of an engine. While Refuses is set,
// they fail with [queue.ErrUnavailable]. While Silent is set, they fail after a minute, or when their context ends. It
// always answers submissions and queries.
type AwayStore struct {
	*memory.Store
	Refuses, Silent atomic.Bool
}

func (s *AwayStore) there(ctx context.Context) error {
	if s.Silent.Load() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Minute):
			return errors.New("timed out")
		}
	}
	if s.Refuses.Load() {
		return fmt.Errorf("%w: connection refused", queue.ErrUnavailable)
	}
	return nil
}

// Finish fails while the store is unavailable.
func (s *AwayStore) Finish(ctx context.Context, r []queue.Result) ([]queue.Verdict, error) {
	if err := s.there(ctx); err != nil {
		return nil, err
	}
	return s.Store.Finish(ctx, r)
}

// Release fails while the store is unavailable.
func (s *AwayStore) Release(ctx context.Context, refs []queue.Ref) ([]error, error) {
	if err := s.there(ctx); err != nil {
		return nil, err
	}
	return s.Store.Release(ctx, refs)
}

// Renew fails while the store is unavailable.
func (s *AwayStore) Renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	if err := s.there(ctx); err != nil {
		return nil, err
	}
	return s.Store.Renew(ctx, refs, ttl)
}

// Expire fails while the store is unavailable.
func (s *AwayStore) Expire(ctx context.Context, holder string) ([]queue.Ref, error) {
	if err := s.there(ctx); err != nil {
		return nil, err
	}
	return s.Store.Expire(ctx, holder)
}

// Changes fails while the store is unavailable.
func (s *AwayStore) Changes(ctx context.Context, cursor int64, most int) ([]queue.Change, int64, error) {
	if err := s.there(ctx); err != nil {
		return nil, 0, err
	}
	return s.Store.Changes(ctx, cursor, most)
}
