package memory

import (
	"context"
	"slices"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// StopRuns implements queue.Store.
func (s *Store) StopRuns(ctx context.Context, stops []queue.Stopped) ([]error, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]error, len(stops))
	for i := range stops {
		stop := &stops[i]
		j, t, err := s.holder(stop.Ref)
		if out[i] = err; err != nil || t.Stopped {
			continue
		}
		t.Stopped = true
		s.stops = append(s.stops, *stop)
		s.journal.note(life.StopEvent(stop))
		s.feed.Add(life.StopChange(&j.Job, t, stop, now))
	}
	return out, nil
}

// Stops implements queue.Store.
func (s *Store) Stops(ctx context.Context, q queue.StopQuery) ([]queue.Stopped, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []queue.Stopped
	for _, x := range slices.Backward(s.stops) {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		if (q.Job == 0 || q.Job == x.Ref.JobID) && !x.Reason.At.Before(q.Since) {
			out = append(out, x)
		}
	}
	slices.Reverse(out)
	return out, nil
}
