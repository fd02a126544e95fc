package web

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/share"
)

// shared is a source whose pools are looked at once for all pages that are asked for within a moment:
// thousands of them take longer than the rest of a page. Nothing has happened in between.
type shared struct {
	Source

	mu   sync.Mutex
	last *api.Shares
	of   uint64
}

// sharedAge is how old they may be.
const sharedAge = time.Second

// Shares is that of the source. The answer is not to be changed.
func (s *shared) Shares(ctx context.Context, pool string) (*api.Shares, error) {
	all, err := s.all(ctx)
	if err != nil || pool == "" {
		return all, err
	}
	out := *all
	out.Pools = nil
	for _, p := range all.Pools {
		if share.Inside(p.Path, pool) {
			out.Pools = append(out.Pools, p)
		}
	}
	if len(out.Pools) == 0 {
		return nil, fmt.Errorf("pool %.256q: %w", pool, fairlead.ErrNotFound)
	}
	return &out, nil
}

func (s *shared) all(ctx context.Context) (*api.Shares, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.Version()
	if s.last != nil && s.of == v && time.Since(s.last.At) < sharedAge {
		return s.last, nil
	}
	all, err := s.Source.Shares(ctx, "")
	if err == nil {
		s.last, s.of = all, v
	}
	return all, err
}
