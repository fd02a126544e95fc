package memory

import (
	"context"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Progress implements queue.Store.
func (s *Store) Progress(ctx context.Context, all []queue.Progress) ([]error, error) {
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
